# %% [markdown]
# # 04 · LSTM and GRU
#
# You have built gates by hand. Now we put them together. The **LSTM** (long short-term memory, 1997) has three gates and a
# memory of its own; the **GRU** (gated recurrent unit, 2014) has two gates and no extra memory. Nearly every recurrent
# network in use is one of the two. In this notebook you take both apart, look at their gates while they work, and then
# write a cell that neither of them is.
#
# Rows of the lectures: 16–25.

# %%
import random
import re
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import torch
from torch import nn

import elman
from elman.cells import (
    GRU,
    LSTM,
    BoundedLSTM,
    Elman,
    FlippedGRU,
    FormulaCell,
    ProjectedLSTM,
    ReLUGRU,
    ResetAfterGRU,
    count_parameters,
)
from elman.course import check
from elman.formula import State, formula, sigmoid, tanh
from elman.inspect import explain, gradient_norms, trace_gates
from elman.inspect.comparison import Comparison
from elman.layers import RNN, from_torch

plt.rcParams.update({"figure.dpi": 75, "figure.figsize": (7, 3)})
torch.manual_seed(0);

# %% [markdown]
# ## The LSTM (rows 16 and 17)
#
# Lecture 000 writes it without biases:

# %%
LSTM(3, 4, bias=False)

# %% [markdown]
# Read it from below. $h_t$ is what others see. $c_t$ is the **memory**, which only the cell itself sees. Three gates guard
# it:
#
# - the **forget gate** $f$: how much of the old memory is kept;
# - the **input gate** $i$: how much of the **candidate** $z$ is written;
# - the **output gate** $o$: how much of the memory is shown.
#
# $f$ and $i$ are the two independent gates of notebook 03. Lectures 003 and 004 add a bias to each line:

# %%
LSTM(3, 4)

# %% [markdown]
# Here is one step by hand. `W` holds the four matrices of the input below each other, in the order $i, f, z, o$; `U`
# those of the state.

# %%
cell = LSTM(3, 4)
x, h, c = torch.randn(1, 3), torch.randn(1, 4), torch.randn(1, 4)

i, f, z, o = (x @ cell.W.T + h @ cell.U[0].T + cell.b).chunk(4, dim=1)
i, f, o, z = torch.sigmoid(i), torch.sigmoid(f), torch.sigmoid(o), torch.tanh(z)
new_c = f * c + i * z
new_h = o * torch.tanh(new_c)

by_cell = cell.step(State(h=h, c=c), cell.project(x))
print("the same:", torch.allclose(new_h, by_cell.h), torch.allclose(new_c, by_cell.c))

# %% [markdown]
# ### Exercise 04.1
#
# Write the last two lines yourself: from the gates and the old memory to the new $h$ and the new $c$. All are tensors of
# the same shape; the sigmoids and the tanh of $z$ are already applied.

# %%
def lstm_step(i, f, z, o, c): ...  # return h, c


check("04.1", lstm_step);

# %% [markdown]
# ## Why it remembers
#
# Look at the path from $c_{t-1}$ to $c_t$: there is no matrix on it and no squashing function, only the forget gate. So
#
# $$\frac{\partial c_t}{\partial c_{t-1}} = f \qquad\text{(along this path)}$$
#
# If $f$ stays near 1, the gradient neither vanishes nor explodes. How near? Here is what is left after $n$ steps of the
# same $f$:

# %%
steps = torch.arange(101)
for f in (0.5, 0.9, 0.99, 1.0):
    plt.plot(steps, f**steps, label=f"f = {f}")
plt.xlabel("steps")
plt.ylabel("what is left of the memory")
plt.title("The forget gate decides how long a memory lasts")
plt.legend(loc="center right");

# %% [markdown]
# This is why the bias of the forget gate starts at 1 and not at 0: $\sigma(0) = 0.5$ would forget half of
# everything at each step before the network has learned what to keep. `forget_bias` sets it. These are the gradients of
# untrained networks (the GRU, below, begins with half-open gates as well, and must learn to open them):

# %%
xs = torch.randn(16, 60, 16)
for name, make in {
    "simple network": lambda: Elman(16, 32),
    "LSTM, forget bias 0": lambda: LSTM(16, 32, forget_bias=0.0),
    "LSTM, forget bias 1": lambda: LSTM(16, 32),
    "LSTM, forget bias 3": lambda: LSTM(16, 32, forget_bias=3.0),
    "GRU": lambda: GRU(16, 32),
}.items():
    torch.manual_seed(0)
    plt.semilogy(range(60, -1, -1), gradient_norms(make(), xs), label=name)
plt.gca().invert_xaxis()
plt.xlabel("steps back from the loss")
plt.ylabel("‖dL/ds‖")
plt.legend(fontsize=8);

# %% [markdown]
# ### Exercise 04.2
#
# The forget gate is always 0.95. After how many whole steps is, for the first time, less than half of the memory left?

# %%
steps_to_half = ...
check("04.2", steps_to_half);

# %% [markdown]
# ## Two variants (rows 18 and 19)
#
# Lecture 001 squashes the memory itself, and not what is shown of it. Its memory can never leave the range from −1 to 1, so
# it cannot count:

# %%
BoundedLSTM(3, 4)

# %%
def count_up(kind):
    """All gates wide open, the candidate always 1: the memory should count 1, 2, 3, …"""
    cell = kind(1, 1)
    with torch.no_grad():
        cell.W.zero_()
        cell.U[0].zero_()
        cell.b.fill_(10.0)
    return trace_gates(cell, torch.zeros(1, 8, 1))["c"].flatten()


plt.figure(figsize=(5, 2.4), layout="constrained")
plt.plot(range(1, 9), count_up(LSTM), "o-", label="LSTM")
plt.plot(range(1, 9), count_up(BoundedLSTM), "o-", label="LSTM of lecture 001")
plt.xlabel("steps")
plt.ylabel("memory c")
plt.legend();

# %% [markdown]
# The memory and the output need not have the same size. `ProjectedLSTM` has a large memory and shows a small output,
# through one more matrix:

# %%
wide = ProjectedLSTM(3, 2, cell_size=6)
ys, state = RNN(wide)(torch.randn(1, 5, 3))
print("outputs:", tuple(ys.shape), "memory:", tuple(state.c.shape))
wide

# %% [markdown]
# ## How many parameters? (row 24)
#
# Four times (three gates and the candidate) there is a matrix for the input, $h \times d$, a matrix for the state,
# $h \times h$, and a bias, $h$:
#
# $$4h(d + h + 1)$$
#
# Lecture 003 has $d = 300$ and $h = 32$ as its example.

# %%
print(f"{4 * 32 * (300 + 32 + 1):,} by the formula, {count_parameters(LSTM(300, 32)):,} in the cell")

# %% [markdown]
# ### Exercise 04.3
#
# How many parameters has `GRU(100, 50)`? It has two gates and a candidate; each has one bias per unit.

# %%
parameters = ...
check("04.3", parameters);

# %% [markdown]
# ## The GRU (rows 20 and 22)
#
# The GRU has no separate memory. Its **update gate** $z$ is a coupled gate: it keeps the old state or writes the candidate
# $n$. Its **reset gate** $r$ decides how much of the old state the candidate may see.

# %%
GRU(3, 4)

# %% [markdown]
# The candidate may also use ReLU (`ReLUGRU`). And beware of $z$: some papers write it the other way round. In `FlippedGRU`,
# a gate near 1 *writes*. Both learn equally well, but a picture of $z$ means the opposite.

# %%
FlippedGRU(3, 4)

# %%
ReLUGRU(3, 4)

# %% [markdown]
# ## The GRU of PyTorch (row 21)
#
# PyTorch (and cuDNN, the library for GPUs) applies the reset gate *after* the matrix product, because that is faster: all
# three products are one. It is another formula, and so another cell. Weights can be moved between PyTorch and this cell
# exactly.

# %%
theirs = nn.GRU(3, 4, batch_first=True)
ours = RNN(ResetAfterGRU(3, 4))
from_torch(ours, theirs.state_dict())
some = torch.randn(2, 5, 3)
print("the same outputs:", torch.allclose(ours(some)[0], theirs(some)[0], atol=1e-6))
ResetAfterGRU(3, 4)

# %% [markdown]
# ## Looking at every gate (row 23)
#
# We train an LSTM to answer a question that needs a memory: after each letter of a word, **has there been a double letter
# so far** (*ss* in *assign*)? Then we look at it.

# %%
LETTERS = "abcdefghijklmnopqrstuvwxyz"
words = sorted(set(re.findall(r"\b[a-z]{5,9}\b", " ".join(topics.values()))))
random.Random(0).shuffle(words)
double = [word for word in words if re.search(r"(.)\1", word)]
single = [word for word in words if not re.search(r"(.)\1", word)]
print(len(double), "words with a double letter:", *double[:6])


def make_batch(some):
    """Letters (0 is padding), which places are letters, and the answers after each letter."""
    ids = [torch.tensor([1 + LETTERS.index(letter) for letter in word]) for word in some]
    ids = nn.utils.rnn.pad_sequence(ids, batch_first=True)
    same = (ids[:, 1:] == ids[:, :-1]) & (ids[:, 1:] > 0)
    seen = torch.cat([torch.zeros(len(some), 1, dtype=torch.bool), same], 1).long().cummax(1).values
    return ids, ids > 0, seen


class Detector(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.embed = nn.Embedding(27, cell.input_size)
        self.rnn = RNN(cell)
        self.decide = nn.Linear(cell.output_size, 2)

    def forward(self, ids, mask):
        return self.decide(self.rnn(self.embed(ids), mask)[0])


def train(cell, updates=350):
    torch.manual_seed(0)
    net, draw = Detector(cell), random.Random(0)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(updates):
        ids, mask, seen = make_batch(draw.sample(double[30:], 32) + draw.sample(single[100:], 32))
        loss = nn.functional.cross_entropy(net(ids, mask)[mask], seen[mask])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    return net


def accuracy(net):
    """Of the answers after the last letter, on words that are not trained on."""
    ids, mask, seen = make_batch(double[:30] + single[:30])
    last = mask.sum(1) - 1
    rows = torch.arange(len(ids))
    return 100 * (net(ids, mask)[rows, last].argmax(-1) == seen[rows, last]).float().mean().item()


torch.manual_seed(0)
detector = train(LSTM(16, 16))
print(f"right on new words: {accuracy(detector):.0f} %")

# %%
def show_gates(net, word):
    ids = make_batch([word])[0]
    found = trace_gates(net.rnn.cell, net.embed(ids))
    _, axes = plt.subplots(1, len(found), figsize=(2.1 * len(found), 2.8), layout="constrained")
    for ax, (name, values) in zip(axes, found.items(), strict=True):
        gate = values.min() >= 0
        most = 1.0 if gate else abs(values).max()
        style = {"cmap": "viridis", "vmin": 0} if gate else {"cmap": "RdBu_r", "vmin": -most}
        ax.imshow(values[0].T, aspect="auto", vmax=most, **style)
        ax.set_xticks(range(len(word)), word)
        ax.set_yticks([])
        ax.set_title(f"{'gate' if gate else 'value'} {name}")
    axes[0].set_ylabel("units")
    plt.show()


show_gates(detector, "assigned")

# %% [markdown]
# Each row is a unit, each column a letter. Gates are drawn from dark (0, closed) to yellow (1, open), the other values from
# blue through white (0) to red. Look at what happens after the second *s*: nearly the whole forget gate is yellow
# (nothing is forgotten any more), and many input gates turn dark (nothing more is written). The network has found what
# it was looking for and locks it away.
#
# Which unit holds the answer? The one whose memory differs most between the places before and after a double letter:

# %%
ids, mask, seen = make_batch(double[:30] + single[:30])
c = torch.tensor(trace_gates(detector.rnn.cell, detector.embed(ids), mask)["c"])
difference = (c[mask & (seen == 1)].mean(0) - c[mask & (seen == 0)].mean(0)).abs()
unit = difference.argmax().item()

plt.figure(figsize=(7, 2.6), layout="constrained")
for place, word in enumerate(("assigned", "different", "document")):
    found = trace_gates(detector.rnn.cell, detector.embed(make_batch([word])[0]))
    line = found["c"][0, :, unit]
    plt.plot(line, "o-", markersize=3, label=word)
    for position, letter in enumerate(word):
        plt.annotate(letter, (position, line[position]), textcoords="offset points", xytext=(0, 5), color=f"C{place}")
plt.axhline(0, color="gray", linewidth=0.8)
plt.margins(y=0.15)
plt.xlabel("letters read")
plt.ylabel("c")
plt.title(f"The memory of unit {unit}")
plt.legend();

# %% [markdown]
# ## Side by side (row 25)
#
# Which cell is best? It depends on what you need. `Comparison` (on the command line: `elman compare`) trains each
# cell twice: on a task that needs a long memory, and on a task with very little data. Here, small sizes that run in
# seconds:

# %%
small = Comparison(steps=20, memory_updates=150, words=200, little_updates=60)
for result in small.run(["elman", "gru", "lstm"]):
    print(f"{result.cell:6} {result.parameters:6,} parameters   long memory {result.memory:5.1f} %   little data {result.little_data:5.1f} %")

# %% [markdown]
# Guessing would give 12.5 % and 50 %. The lectures say: an LSTM is a good first choice when dependencies are long and there
# is much data; a GRU is smaller and learns faster from less; a simple network is enough where little must be remembered. The
# full comparison (`elman compare`, with more training) shows the differences more clearly.
#
# ## A cell of your own
#
# You do not need to choose among the cells that exist. This is the *minimal gated unit* (Zhou et al. 2016): a GRU whose two
# gates are one.

# %%
@formula(gates="f n")
def mgu(x, U, s):
    f = sigmoid(x.f + U.f(s.h))
    n = tanh(x.n + U.n(f * s.h))
    return State(h=(1 - f) * s.h + f * n)


mgu

# %%
for name, cell in {"mgu": FormulaCell(mgu, 16, 16), "gru": GRU(16, 16), "lstm": LSTM(16, 16)}.items():
    net = train(cell)
    print(f"{name:5} {count_parameters(cell):6,} parameters   double letters: {accuracy(net):.0f} % right")

# %% [markdown]
# ## Your formula in a real model
#
# Everything in Elman takes your formula by the name `cell`: here a classifier that reads words letter by letter and says
# whether they are spelt forwards or backwards. It is one call; a bar shows how far the training is.

# %%
spelt = [(word, "forwards") if place % 2 else (word[::-1], "backwards") for place, word in enumerate(words)]
settings = {"tokens": {"kind": "chars"}, "model": {"bidirectional": False, "pool": "last", "embedding": 16, "dropout": 0.1}}
model = elman.Classifier.train(spelt[400:], valid=spelt[:400], cell=mgu, hidden=32, lr=0.01, epochs=4, recipe=settings)
model

# %%
for prediction in model.classify(["reading", "gnidaer", "station", "noitats"]):
    print(f"{prediction.label:10} {prediction.confidence:.2f}")

# %% [markdown]
# It is right for four of five new words, and less sure where it is wrong.
#
# `explain` shows what the model does with one text: every gate and state of your formula, by the names you gave them.

# %%
explain(model, "gnidaer")

# %% [markdown]
# On the command line it is the same: with the formula in a file `mycells.py`, write
# `elman train classifier --cell mycells.py:mgu …`. The model folder stores the formula itself, so it can be
# loaded where that file does not exist.
#
# ### Exercise 04.4
#
# Write the GRU of row 20 as a formula: gates `r`, `z` and `n`, the reset before the product, and $z$ near 1 keeps the old
# state.

# %%
@formula(gates="r z n")
def my_gru(x, U, s): ...


check("04.4", my_gru);

# %% [markdown]
# ## Things to change
#
# 1. Change one line of `mgu`, for example `n = tanh(x.n + U.n(s.h))`: is the gate inside the candidate needed? Train it, and
#    draw its gates with `show_gates(net, "assigned")`.
# 2. Train the detector with `LSTM(16, 16, forget_bias=-3.0)`. Does the network find its way out?
# 3. Give the three cells equal numbers of parameters instead of equal numbers of units. Does the order change?
#
# ## What comes next
#
# **Notebook 05** puts several of these networks on top of each other, and lets two of them read a text from both ends.
