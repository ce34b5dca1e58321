1 |a x y x2 |b z w v:2 |c u
