"""
Text: which words represent the others
======================================

A collection of texts becomes a table with a column for each word. It has hundreds or
thousands of columns, most of them nearly empty, and many say the same: where *null*
occurs, *hypothesis* is not far. Which few words tell what a text is about, and which
words go together?

It needs the extras ``network``, ``pandas`` and ``plot``.
"""

# %%
# The texts are at hand with every installation: the documentation of some thousand
# functions of SciPy. Which version is installed decides on the numbers below.

import inspect
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scipy
from sklearn.feature_extraction.text import TfidfVectorizer

from franet import Cover, FRANe
from franet.plotting import plot_network

parts = "fft integrate interpolate linalg ndimage optimize signal sparse special stats"
texts = {}
for part in parts.split():
    module = import_module(f"scipy.{part}")
    for name in module.__all__:
        text = inspect.getdoc(getattr(module, name)) or ""
        if len(text) > 400:
            texts[f"{part}.{name}"] = text
print(f"{len(texts)} texts of SciPy {scipy.__version__}")

# %%
# Counts of words, weighed by how rare a word is. Words of fewer than 20 texts are left
# out: correlations of rare words are those of one or two long texts. The table is
# sparse.

vectorizer = TfidfVectorizer(
    token_pattern=r"[a-z]{4,}",
    min_df=20,
    max_df=0.3,
    stop_words="english",
    sublinear_tf=True,
)
X = vectorizer.fit_transform(texts.values())
words = vectorizer.get_feature_names_out()
filled = X.nnz / np.prod(X.shape)
print(f"{X.shape[0]} texts × {X.shape[1]} words, {filled:.1%} of the cells filled")

# %%
# Words that do not repeat each other, in the order in which they are picked, and the
# words that each of them represents. A word in this list is not important in itself: it
# is the one from which the others can be predicted.

ranker = Cover(24, n_ranked=24).fit(X)
for pick in ranker.order_[:12]:
    others = words[ranker.members_[pick][:6]]
    print(f"{words[pick]:<12} {', '.join(others)}")

# %%
# How much of the table do so many words tell? A word is covered by the square of its
# correlation with the closest pick. Text has a long tail: each further word adds a
# little.

for k in (1, 4, 8, 16, 24):
    print(f"{k:>2} words explain {ranker.explained_[k - 1]:.0%}")

# %%
# The network of the paper's method joins words that occur in the same texts. Its
# communities are topics. Some words have no edge at the winning threshold: their order
# would say nothing, and ``tie_break="denser"`` takes it from the next denser network. A
# data frame gives the network its names.

frame = pd.DataFrame(X.toarray(), columns=words)
network = FRANe(tie_break="denser").fit(frame).network_
topics = network.communities()
print(f"{network.n_edges} edges, {(topics.labels < 0).sum()} words without one\n")
for label in range(8):
    members = np.flatnonzero(topics.labels == label)
    best = members[np.argsort(-network.scores[members])][:6]
    print(f"{topics.size[label]:>4} words: {', '.join(words[best])}")

# %%
# The 150 most central words and their strongest edges. The size of a node is its score,
# the colour its community.

fig, ax = plt.subplots(figsize=(9, 7), layout="constrained")
plot_network(network, top=150, labels=40, ax=ax)
plt.show()

# %%
# Words can be asked for what they are related to.

print(network.explain("hypothesis"))
