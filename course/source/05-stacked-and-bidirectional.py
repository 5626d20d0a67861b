# %% [markdown]
# # 05 · Stacked and bidirectional
#
# One layer that reads from left to right is the simplest recurrent network, and rarely the best one. In this notebook
# you put layers **on top of each other** (depth), let a second network read **from right to left** (both directions),
# and make **one vector of a whole text** in three ways to classify it. Everything is built by hand first, and then
# compared with what Elman has.
#
# Rows of the lectures: 8, 9, 26, 46–49.
#
# You need notebook 01 (what a cell is) and notebook 04 (LSTM and GRU).

# %%
import itertools
import random

import matplotlib.pyplot as plt
import torch
from IPython.utils.capture import capture_output
from torch import nn

import elman
from elman.cells import GRU, LSTM, Stacked, count_parameters
from elman.course import check
from elman.layers import MERGES, RNN, BiRNN, StackedRNN

plt.rcParams.update({"figure.dpi": 75, "figure.figsize": (7, 3)})
torch.manual_seed(1);

# %% [markdown]
# ## Two ways to grow
#
# The left network is **stacked**: the outputs of a layer are the inputs of the layer above it. The right one is
# **bidirectional**: two layers read the same inputs, one from each end, and their outputs are put side by side. Follow
# the arrows: which inputs can reach the output $y_2$?

# %%
WORDS = ["I", "read", "the", "book"]


def draw_network(ax, title, rows, arrows):
    """Rows of circles, the words below; arrows go from (row, place) to (row, place)."""
    for row, (name, color) in enumerate(rows):
        for place, word in enumerate(WORDS):
            ax.scatter(place, row, s=700, color=color, edgecolor="black", zorder=2)
            label = word if row == 0 else f"${name}_{place + 1}$"
            ax.text(place, row, label, ha="center", va="center", zorder=3, fontsize=9)
    for (row, place), (to_row, to_place), bend in arrows:
        ax.annotate(
            "",
            (to_place, to_row),
            (place, row),
            arrowprops={"arrowstyle": "->", "shrinkA": 14, "shrinkB": 14, "connectionstyle": f"arc3,rad={bend}"},
        )
    ax.set(title=title, xlim=(-0.5, 3.5), ylim=(-0.5, len(rows) - 0.5))
    ax.axis("off")


steps = range(len(WORDS))
up = [((row, i), (row + 1, i), 0) for row in (0, 1, 2) for i in steps]
right = [((row, i), (row, i + 1), 0) for row in (1, 2) for i in steps[:-1]]
both = [((0, i), (1, i), 0) for i in steps] + [((0, i), (2, i), 0.35) for i in steps]
both += [((1, i), (3, i), -0.35) for i in steps] + [((2, i), (3, i), 0) for i in steps]
both += [((1, i), (1, i + 1), 0) for i in steps[:-1]] + [((2, i + 1), (2, i), 0) for i in steps[:-1]]

fig, (left_ax, right_ax) = plt.subplots(1, 2, figsize=(9, 3.4))
blue, orange, grey, white = "#9ecae1", "#fdbe85", "#dddddd", "#ffffff"
draw_network(left_ax, "stacked", [("x", grey), ("h^1", blue), ("h^2", blue), ("y", white)], up + right)
draw_network(right_ax, "bidirectional", [("x", grey), ("f", blue), ("b", orange), ("y", white)], both)
plt.tight_layout();

# %% [markdown]
# ## Depth: a stack of layers (row 26)
#
# Layer 1 reads $x_{1:n}$ and gives $h^1_{1:n}$. Layer 2 reads $h^1_{1:n}$ and gives $h^2_{1:n}$, and so on:
#
# $$h^1_i = R^1(h^1_{i-1}, x_i) \qquad h^2_i = R^2(h^2_{i-1}, h^1_i)$$
#
# By hand it is one loop after the other. In Elman, a stack of cells is itself a cell, so everything that you can do with
# a cell you can do with a stack. The layers may differ in width and in kind:

# %%
below, above = LSTM(3, 8), GRU(8, 4)
xs = torch.randn(2, 5, 3)  # two sequences, five steps, three features

by_hand, _ = RNN(above)(RNN(below)(xs)[0])
stacked = Stacked([below, above])
ys, state = RNN(stacked)(xs)

print("outputs:", tuple(ys.shape), "  by hand the same:", torch.allclose(ys, by_hand))
print("states: ", [part.names for part in state], "  one for each layer")
print("parameters:", count_parameters(below), "+", count_parameters(above), "=", count_parameters(stacked))

# %% [markdown]
# Why stack? Between $x_i$ and the output there is one nonlinear step in a single layer, and there are as many steps as
# layers in a stack: each layer can compute with what the layer below has found out. Two or three layers are common, and
# more data justifies more of them. **Depth is not free:** a deep stack learns more slowly, and with little text a wide
# single layer is often better. An LSTM of letters on 600 sentences of notebook 06, four epochs, about 60,000 parameters
# each time: one layer reached 0.35 bits per character, two layers 0.44, three layers 0.86. Measure it on your data
# (`--layers 2` on the command line).
#
# ## Both directions (row 8)
#
# A network that reads from left to right knows, at word $i$, only the words up to $i$. If the whole text is there, a
# second network can read it from the end:
#
# $$y_i = [\,\mathrm{RNN}_f(x_{1:i})\,;\,\mathrm{RNN}_b(x_{n:i})\,]$$
#
# By hand: turn the sequence round, read it, **turn the outputs back**, and put both side by side.

# %%
forward, backward = LSTM(3, 4), LSTM(3, 4)
ahead, _ = RNN(forward)(xs)
back, _ = RNN(backward)(xs.flip(1))  # flip(1): the last step first
by_hand = torch.cat([ahead, back.flip(1)], dim=-1)

ys, _ = BiRNN(forward, backward)(xs)
print("outputs:", tuple(ys.shape), "  by hand the same:", torch.allclose(ys, by_hand))

# %% [markdown]
# Which inputs does an output depend on? The gradient says it: $\partial y_i / \partial x_j$ is zero if $x_j$ cannot reach
# $y_i$. Each small square below is one pair $(i, j)$; the darker, the more $y_i$ depends on $x_j$.

# %%
def dependence(layer, steps=8):
    """How strongly each output depends on each input: |∂y_i/∂x_j|, summed over the features."""
    xs = torch.randn(1, steps, 3, requires_grad=True)
    ys, _ = layer(xs)
    rows = [torch.autograd.grad(ys[0, i].sum(), xs, retain_graph=True)[0][0].abs().sum(-1) for i in range(steps)]
    return torch.stack(rows)


layers = {
    "forward": RNN(LSTM(3, 4)),
    "backward": RNN(LSTM(3, 4), reverse=True),
    "both": BiRNN(LSTM(3, 4), LSTM(3, 4)),
}
fig, axes = plt.subplots(1, 3, figsize=(9, 3))
for ax, (name, layer) in zip(axes, layers.items(), strict=True):
    ax.imshow(dependence(layer) ** 0.5, cmap="Blues", extent=(0.5, 8.5, 8.5, 0.5))
    ax.set(title=name, xlabel="input $x_j$", ylabel="output $y_i$")
plt.tight_layout();

# %% [markdown]
# Forward: a triangle below the diagonal, the past only. Backward: the triangle above it, the future only. Both: a full
# square. Even there it is darkest near the diagonal: what is near counts more (notebook 02).

# %% [markdown]
# ### Exercise 05.1
#
# Write `both_directions`. It gets two functions that read a sequence `xs` of shape (batch, steps, features) and return
# the outputs of all steps, and it returns the outputs of both directions, side by side.

# %%
def both_directions(read_forward, read_backward, xs): ...


check("05.1", both_directions);

# %% [markdown]
# ## When does the right context matter?
#
# How do you say *read*? In *I read it every day* it sounds like **reed**, in *I read it yesterday* like **red**. A
# program that reads aloud must know, and the word that decides may stand before or after. We make all such sentences
# with a time at the front or at the end:

# %%
TIMES = {
    "red": ["yesterday", "last night", "last week", "an hour ago"],
    "reed": ["today", "every day", "each morning", "on sundays"],
}
PEOPLE, TEXTS = "i you we they".split(), ["the book", "the letter", "a long story", "the news", "every page", "his poems"]

sentences = []  # words, how "read" sounds, where the time stands
for sound, times in TIMES.items():
    for time, who, what in itertools.product(times, PEOPLE, TEXTS):
        sentences.append((f"{time} {who} read {what}".split(), sound, "front"))
        sentences.append((f"{who} read {what} {time}".split(), sound, "end"))
random.Random(0).shuffle(sentences)
train, test = sentences[:280], sentences[280:]
for words, sound, place in test[:4]:
    print(f"{' '.join(words):35} {sound:5} time at the {place}")

# %% [markdown]
# The network: an embedding of the words, a recurrent layer of any kind, and at the word *read* a decision between the
# two sounds. Only the layer differs between the three runs.

# %%
vocabulary = {word: i for i, word in enumerate(sorted({word for words, _, _ in sentences for word in words}), 1)}
SOUNDS = list(TIMES)


def to_tensors(some):
    """Word numbers (0 is padding), which of them are real, where "read" stands, and how it sounds."""
    rows = [torch.tensor([vocabulary[word] for word in words]) for words, _, _ in some]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    places = torch.tensor([words.index("read") for words, _, _ in some])
    return ids, ids > 0, places, torch.tensor([SOUNDS.index(sound) for _, sound, _ in some])


class Reader(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.embed = nn.Embedding(len(vocabulary) + 1, 12)
        self.layer = layer
        self.decide = nn.Linear(layer.output_size, len(SOUNDS))

    def forward(self, ids, mask, places):
        ys, _ = self.layer(self.embed(ids), mask)
        return self.decide(ys[torch.arange(len(ys)), places])  # the output at "read"


def train_reader(layer, updates=120):
    torch.manual_seed(0)
    model = Reader(layer)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(updates):
        ids, mask, places, sounds = to_tensors(random.sample(train, 32))
        loss = nn.functional.cross_entropy(model(ids, mask, places), sounds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def percent_right(model, place):
    ids, mask, places, sounds = to_tensors([one for one in test if one[2] == place])
    return 100 * (model(ids, mask, places).argmax(-1) == sounds).float().mean().item()


# %%
random.seed(0)
readers = {
    "forward": RNN(LSTM(12, 16)),
    "backward": RNN(LSTM(12, 16), reverse=True),
    "both": BiRNN(LSTM(12, 8), LSTM(12, 8)),
}
for number, (name, layer) in enumerate(readers.items()):
    model = train_reader(layer)
    scores = [percent_right(model, place) for place in ("front", "end")]
    print(f"{name:9} time at the front {scores[0]:5.1f} %   at the end {scores[1]:5.1f} %")
    plt.bar(number - 0.2, scores[0], width=0.36, color=blue)
    plt.bar(number + 0.2, scores[1], width=0.36, color=orange)
plt.axhline(50, color="black", linestyle=":")
plt.xticks(range(3), readers)
plt.ylim(0, 125)
plt.ylabel("% right")
plt.title("how to say “read”")
plt.legend(["guessing", "the time stands at the front", "at the end"], ncol=3, loc="upper center");

# %% [markdown]
# Where the deciding word has not been read yet, a network of one direction can only guess. Both directions together
# always know. This is why taggers are bidirectional (notebook 08).
#
# **When is it forbidden?** When the future does not exist yet. A language model predicts the next word (notebook 06): a
# backward network would have read the very word that is to be predicted. The same is true for text that somebody is
# still typing (notebook 07).

# %% [markdown]
# ### Exercise 05.2
#
# Which of these can use a bidirectional network? Answer with a set of letters, such as `{"a", "c"}`.
#
# - a: find the names in a finished newspaper article
# - b: suggest the next word to somebody who types
# - c: read the French sentence that a translator is to put into English
# - d: write the English sentence, word by word
# - e: sort yesterday's mails into folders

# %%
letters = ...
check("05.2", letters);

# %% [markdown]
# ## Other ways to combine them (row 9)
#
# Side by side is usual, and it doubles the width. The two directions can also be added, averaged or multiplied, or
# combined by a function of your own. Bidirectional layers can be stacked, too: then the second layer reads both
# directions of the first one.

# %%
for name, merge in MERGES.items():
    print(f"{name:8} {BiRNN(GRU(3, 4), GRU(3, 4), merge=merge)(xs)[0].shape[-1]} features")
print(f"{'maximum':8} {BiRNN(GRU(3, 4), GRU(3, 4), merge=torch.maximum)(xs)[0].shape[-1]} features")

first = BiRNN(GRU(3, 4), GRU(3, 4))
second = BiRNN(GRU(first.output_size, 5), GRU(first.output_size, 5))
print("two bidirectional layers:", tuple(StackedRNN([first, second])(xs)[0].shape))

# %% [markdown]
# ### Exercise 05.3
#
# A tagger reads word vectors of **100** features. Its first layer is bidirectional with **64** units in each direction
# (side by side), its second layer is bidirectional with **32** units in each direction (side by side). How many features
# does a cell of the second layer read, and how many features has the output? Answer with a pair: `(reads, output)`.

# %%
reads, output = ..., ...
check("05.3", (reads, output));

# %% [markdown]
# ## One vector for a text (rows 46–48)
#
# To classify a text (row 49: sentiment, spam, hate speech, topics) we need one vector, from which a softmax, or a small
# feed-forward net before it (`"mlp": 50` in the recipe), decides. Three ways to get it from $y_{1:n}$:
#
# | way | vector | row |
# |---|---|---|
# | last | $y_n$ of a forward network | 46 |
# | mean | $\frac{1}{n}\sum_i y_i$ | 47 |
# | ends | the forward state of the last word and the backward state of the first: $[f_n ; b_1]$ | 48 |
#
# There is a trap. The output $y_n$ of a *bidirectional* network is $[f_n ; b_n]$, and its backward half $b_n$ has read
# one word only, the last. The backward network is finished at the *first* word:

# %%
layer = BiRNN(LSTM(3, 4), LSTM(3, 4))
ys, _ = layer(xs)
only_last, _ = layer(xs[:, -1:])  # a text of one word: the last one
print("backward half of y_n has read only the last word:", torch.allclose(ys[:, -1, 4:], only_last[:, 0, 4:]))

ends = torch.cat([ys[:, -1, :4], ys[:, 0, 4:]], dim=-1)
print("last_output takes both ends:", torch.allclose(layer.last_output(xs), ends))

# %% [markdown]
# ### Exercise 05.4
#
# Texts in a batch differ in length, and short ones are padded. Write `ends(ys, mask)`: from `ys` of shape
# (batch, steps, 2 × units), forward half first, and a `mask` that is true on real words, the vector $[f_n ; b_1]$ of
# each text, where $n$ is the text's own last word.

# %%
def ends(ys, mask): ...


check("05.4", ends);

# %% [markdown]
# ### Which one is best? Opinions that are soon forgotten
#
# Reviews: *the film was not boring*. The opinion is in the first words; a tail without any opinion follows. A word by
# itself says nothing: *boring* is good after *not*. So a bag of words must fail, whatever the tail. The recurrent networks
# below all have simple Elman cells. We make the tail longer and see who still finds the opinion.

# %%
THINGS = "film book song meal game hotel".split()
GOOD, BAD = "good great lovely funny clever".split(), "bad boring awful dull ugly".split()
PLAIN, TURNED = ["was", "really was", "was very", "was always"], ["was not", "was never", "was hardly", "was anything but"]
TAIL = (
    "we came by train and sat near the door while it rained . on the way home a man told us about his two dogs . "
    "later they opened the window and somebody closed it again ."
).split()

opinions = [
    (f"the {thing} {was} {word} .", "good" if (word in GOOD) == (was in PLAIN) else "bad")
    for thing, was, word in itertools.product(THINGS, PLAIN + TURNED, GOOD + BAD)
]
random.Random(0).shuffle(opinions)


def add_tails(opinions, length):
    start = random.Random(0)
    starts = [start.randrange(len(TAIL)) for _ in opinions]
    return [(" ".join([text, *(TAIL * 3)[i : i + length]]), label) for (text, label), i in zip(opinions, starts, strict=True)]


print(*add_tails(opinions[:3], 10), sep="\n")

# %%
WAYS = {
    "bag of words": {"encoder": "bag"},
    "last": {"pool": "last", "bidirectional": False},
    "mean": {"pool": "mean", "bidirectional": False},
    "ends": {"pool": "ends", "bidirectional": True},
}


def train_classifier(way, length, epochs=25):
    texts = add_tails(opinions, length)
    sizes = {"hidden": 24, "embedding": 16, "dropout": 0.0, "word_dropout": 0.0, "calibrate": False}
    recipe = {
        "tokens": {"kind": "whitespace"},
        "data": {"batch_tokens": 32 * (length + 6)},
        "model": {**sizes, **WAYS[way]},
        "training": {"patience": 0},
    }
    with capture_output():  # twelve progress bars would be too many
        return elman.Classifier.train(
            texts[:320], valid=texts[320:360], recipe=recipe, cell="elman", epochs=epochs, lr=0.01, seed=1
        )


# %%
lengths = [0, 10, 30]
for way in WAYS:
    models = [train_classifier(way, length) for length in lengths]
    scores = [
        model.evaluate(add_tails(opinions, length)[360:])["accuracy"]
        for model, length in zip(models, lengths, strict=True)
    ]
    print(f"{way:13}", *(f"{score:6.1f} %" for score in scores))
    plt.plot(lengths, scores, "o-", label=way)
plt.axhline(50, color="black", linestyle=":", label="guessing")
plt.xlabel("words after the opinion")
plt.ylabel("% right")
plt.legend();

# %% [markdown]
# - The **bag of words** guesses at every length.
# - **Last** must carry the opinion through the whole tail, and a simple cell cannot learn that over thirty words: the
#   gradient vanishes on the way (notebook 02).
# - **Mean** has a short way from the loss to every word, and **ends** has read the opinion last of all in its backward
#   half.
#
# The last model of the loop has both ends. Here is what it says about reviews of yours:

# %%
for prediction in models[-1].classify(["the meal was anything but dull .", "the song really was ugly ."]):
    print(prediction.label, {label: round(p, 3) for label, p in prediction.probabilities.items()})

# %% [markdown]
# ## Things to change
#
# 1. Put the opinion at the end: `" ".join([*(TAIL * 3)[i : i + length], text])` in `add_tails`. Which way wins now, and why?
# 2. Take `cell="lstm"` in `train_classifier` (and 60 epochs). Does a gated cell find the opinion with **last**?
# 3. Let `Reader` read with two layers: `StackedRNN([BiRNN(…), BiRNN(…)])`. Is one layer enough here?
#
# On the command line, the same choices are `elman train classifier … --cell gru --layers 2 --set model.pool=ends`.
#
# ## What comes next
#
# So far somebody gave us the right answers. In **notebook 06** the text is its own teacher: a language model predicts the
# next word, says how probable a text is, and writes new ones.
