"""A corpus without a sentence, for tests that need no words."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.corpus.sentences import Sentences

NO_SENTENCES = Sentences(np.zeros(0, np.int32), np.zeros(0, np.int32))
