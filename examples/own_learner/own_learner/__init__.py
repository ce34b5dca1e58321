"""A learner and a loss from outside of Ouzel: importing this makes them known.

ouzel train FILE --learner nlms                         # once the package is installed
ouzel train FILE --learner own_learner:nlms             # from this folder, without
ouzel train FILE --learner ogd --loss own_learner.log_cosh:LogCosh
"""

import ouzel

ouzel.register("nlms", "own_learner.nlms", "normalised least mean squares")
