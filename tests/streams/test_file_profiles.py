"""Files that differ from the first of their stream are told of; they are read as one stream all the same."""

import ouzel


def remarks(tmp_path, *texts, suffix="csv", **options):
    paths = []
    for k, text in enumerate(texts):
        paths.append(tmp_path / f"{'abc'[k]}.{suffix}")
        paths[-1].write_text(text)
    stream = ouzel.read(paths, **options)
    assert sum(block.rows for block in stream) > 0
    return [line.replace(f"{tmp_path}/", "") for line in stream.remarks]


def test_files_alike_need_no_words(tmp_path):
    assert remarks(tmp_path, "x,y\n1,0\n2,1\n", "y,x\n1,3\n", "x,y\n9,\n", label="y") == []


def test_other_columns_are_named(tmp_path):
    assert remarks(tmp_path, "x,z,y\n1,1,0\n2,1,1\n", "x,w,y\n1,1,0\n", label="y") == [
        "b.csv: has other columns than a.csv, with w and without z; they are read as one stream"
    ]


def test_other_labels_are_named(tmp_path):
    assert remarks(tmp_path, "1 1:1\n0 2:1\n", "spam 1:1\nham 2:1\n", suffix="svm") == [
        "b.svm: has other labels, ham, spam, than a.svm, 0, 1; they are read as one stream"
    ]
    assert remarks(tmp_path, "1 1:1\n0 2:1\n", "2 1:1\n", suffix="svm") == [
        "b.svm: has other labels, 2, than a.svm, 0, 1; they are read as one stream"
    ]


def test_many_numbers_differ_as_they_like(tmp_path):
    first, second = ("".join(f"{k + shift} 1:1\n" for k in range(50)) for shift in (0.0, 0.5))

    assert remarks(tmp_path, first, second, suffix="svm") == []
