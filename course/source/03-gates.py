# %% [markdown]
# # 03 · Gates by hand
#
# A simple recurrent network reads its whole memory and writes its whole memory at every step. Nobody would build a
# computer like that. We want to say: *keep this number, overwrite that one*. A **gate** says so. First we set gates by
# hand, with zeros and ones. Then we make them soft, so that they can be trained, and let a network find its own.
#
# Rows of the lectures: 13–15.

# %%
import random
import re
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import torch
from torch import nn

from elman.cells import CoupledLSTM, Elman, FormulaCell
from elman.cells.gate_examples import SoftGate, coupled_gates, hard_gate, independent_gates
from elman.course import check
from elman.formula import State, formula, sigmoid, tanh
from elman.inspect import trace_gates
from elman.layers import RNN

plt.rcParams.update({"figure.dpi": 75, "figure.figsize": (7, 3)})
torch.manual_seed(0);

# %% [markdown]
# ## A hard gate (row 13)
#
# The memory is a vector $s$, the input a vector $x$ of the same size, and the gate a vector $g$ of zeros and ones.
# $\odot$ multiplies number by number (the *Hadamard product*). The new memory is
#
# $$s' = g \odot x + (1 + g) \odot s$$
#
# where $+$ on $g$ is modulo 2: $1 + 1 = 0$. So where the gate is 1, $x$ is written; where it is 0, $s$ is kept. This is the
# example of the lecture:

# %%
s = torch.tensor([8, 9, 3])
x = torch.tensor([10, 11, 12])
g = torch.tensor([0, 1, 0])
print("s' =", hard_gate(g, x, s).tolist())

# %% [markdown]
# ### Exercise 03.1
#
# $s = (5, 6, 7, 8)$, $x = (1, 2, 3, 4)$, $g = (1, 0, 0, 1)$. What is $s'$? Write it as a list, without asking Python.

# %%
new_memory = ...
check("03.1", new_memory);

# %% [markdown]
# ## A program made of gates
#
# A gate may look at the input and at the memory. This one remembers the **first vowel** of a word: it opens if the
# letter is a vowel and the memory is still empty.

# %%
VOWELS = "aeiou"


def first_vowel_gate(letter, memory):
    return 1 if letter in VOWELS and memory == "" else 0


def run(gate, word):
    """The gate and the memory after each letter."""
    memory, steps = "", []
    for letter in word:
        open_ = gate(letter, memory)
        memory = letter if open_ else memory
        steps.append((letter, open_, memory))
    return steps


for letter, open_, memory in run(first_vowel_gate, "strength"):
    print(f"{letter}   gate {open_}   memory {memory or '-'}")

# %% [markdown]
# ### Exercise 03.2
#
# Write the gate that remembers the **last** vowel of a word.

# %%
def gate(letter, memory): ...


check("03.2", gate);

# %% [markdown]
# ## A soft gate (row 14)
#
# A step from 0 to 1 has slope zero everywhere, except at the jump, where it has none. A gradient of zero teaches
# nothing. The sigmoid $\sigma(a) = 1/(1+e^{-a})$ is a smooth step: almost 0, almost 1, or anything between, and it has a
# slope everywhere.

# %%
a = torch.linspace(-6, 6, 200)
fig, axes = plt.subplots(1, 2, figsize=(7, 2.4), layout="constrained")
axes[0].plot(a, (a > 0).float(), label="hard gate")
axes[0].plot(a, torch.sigmoid(a), label="soft gate σ(a)")
axes[1].plot(a, torch.zeros_like(a), label="hard gate")
axes[1].plot(a, torch.sigmoid(a) * (1 - torch.sigmoid(a)), label="soft gate")
axes[0].set(title="how far it is open")
axes[1].set(title="its slope: what training can use")
axes[0].legend();

# %% [markdown]
# What the gate looks at is learned: a matrix for the input, a matrix for the state, a bias. The gate then multiplies
# whatever it guards:
#
# $$g = \sigma(W x + U h + b) \qquad v = g \odot u$$

# %%
soft = SoftGate(3, 4)  # from inputs with 3 features to a gate with 4 numbers
x, h, u = torch.randn(1, 3), torch.randn(1, 4), torch.tensor([[10.0, 10.0, 10.0, 10.0]])
g = soft(x, h)
print("gate:", g.detach().numpy().round(2))
print("what is let through of 10 each:", (g * u).detach().numpy().round(1))

# %% [markdown]
# ### Exercise 03.3
#
# Write a soft gate yourself. `x`, `h`, `b` are vectors, `W` and `U` are matrices with one row for each number of the
# gate.

# %%
def soft_gate(x, h, W, U, b): ...


check("03.3", soft_gate);

# %% [markdown]
# ## Two gates (row 15)
#
# Two things want into the memory: what was there before, $t$, and what is new, $u$. Give each a gate of its own, or let
# them share one:
#
# $$v = g_1 \odot t + g_2 \odot u \qquad\text{or}\qquad v = g \odot t + (1 - g) \odot u$$
#
# **Independent** gates can keep both, or neither. **Coupled** gates are a mixture: what one loses the other gets, so the
# result always lies between $t$ and $u$.

# %%
t, u = torch.tensor(8.0), torch.tensor(4.0)
grid = torch.linspace(0, 1, 50)
fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
both = independent_gates(grid[:, None], t, grid[None, :], u)
image = axes[0].imshow(both, origin="lower", extent=(0, 1, 0, 1), cmap="viridis", vmin=0, vmax=12)
axes[0].set(title="independent: from 0 to t + u", xlabel="g₂ (lets u in)", ylabel="g₁ (keeps t)")
fig.colorbar(image, ax=axes[0], label="v")
axes[1].plot(grid, coupled_gates(grid, t, u))
axes[1].set(title="coupled: between u and t", xlabel="g", ylabel="v", ylim=(0, 12))
axes[1].axhline(8, color="gray", linestyle=":")
axes[1].axhline(4, color="gray", linestyle=":");

# %% [markdown]
# ### Exercise 03.4
#
# With coupled gates, $t = 8$ and $u = 4$: for which $g$ is $v = 7$?

# %%
g = ...
check("03.4", g);

# %% [markdown]
# ## Your first cell: a network with one gate
#
# In Elman you write the formula of a cell as you would write it on paper. `x.g` is what the input says to $g$
# ($W_g x + b_g$), `U.g(s.h)` is what the old state says to it, `s.h` is the old state. That is all you write: Elman
# finds the gradient, a fast loop and the equations from it.

# %%
@formula(gates="g n")
def one_gate(x, U, s):
    g = sigmoid(x.g + U.g(s.h))
    n = tanh(x.n + U.n(s.h))
    return State(h=g * s.h + (1 - g) * n)


one_gate

# %% [markdown]
# This is the simple recurrent network with one coupled gate: $g$ near 1 keeps the old state, $g$ near 0 writes the new
# one.
#
# Can it learn the program from above: **which vowel was the first one** in a word? We train it beside the simple network,
# on the words of Python's documentation. Dots fill every word up to 25 letters, so that there is something to wait for, and
# after the last dot the network must name the vowel.

# %%
LETTERS = ".abcdefghijklmnopqrstuvwxyz"
words = sorted(set(re.findall(r"\b[a-z]{5,9}\b", " ".join(topics.values()))))
words = [word for word in words if set(word) & set(VOWELS)]
random.Random(0).shuffle(words)
LENGTH = 25


def make_batch(some):
    ids = [[LETTERS.index(letter) for letter in word.ljust(LENGTH, ".")] for word in some]
    first = [VOWELS.index(next(letter for letter in word if letter in VOWELS)) for word in some]
    return torch.tensor(ids), torch.tensor(first)


print(words[0].ljust(LENGTH, "."), "→", VOWELS[make_batch(words[:1])[1].item()])


class FirstVowel(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.embed = nn.Embedding(27, cell.input_size)
        self.rnn = RNN(cell)
        self.decide = nn.Linear(cell.output_size, 5)

    def forward(self, ids):
        return self.decide(self.rnn.last_output(self.embed(ids)))


def train(net, updates=400):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    draw, curve = random.Random(0), []
    for update in range(updates + 1):
        if update % 40 == 0:
            ids, first = make_batch(words[-400:])
            curve.append((net(ids).argmax(1) == first).float().mean().item() * 100)
        ids, first = make_batch(draw.sample(words[:-400], 64))
        loss = nn.functional.cross_entropy(net(ids), first)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    return curve


def one_gate_cell():
    cell = FormulaCell(one_gate, 16, 24)
    cell.init_gate_bias("g", 2.0)  # the gate starts open: at first, remember
    return cell


curves = {}
for name, make in (("one gate", one_gate_cell), ("simple network", lambda: Elman(16, 24))):
    torch.manual_seed(0)
    net = FirstVowel(make())
    curves[name] = train(net)
    if name == "one gate":
        gated = net
for name, curve in curves.items():
    plt.plot(range(0, 401, 40), curve, "o-", markersize=3, label=f"{name}: {curve[-1]:.0f} %")
plt.xlabel("updates")
plt.ylabel("accuracy on new words, %")
plt.ylim(0, 105)
plt.title("Which vowel was the first?")
plt.legend();

# %% [markdown]
# Now look at the gates that it has found. `trace_gates` gives every gate and state of every step. Each row is one unit;
# white is a gate that keeps everything, blue one that overwrites.

# %%
def show_gate(word):
    ids, _ = make_batch([word])
    found = trace_gates(gated.rnn.cell, gated.embed(ids))
    fig, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
    for ax, name, title in ((axes[0], "g", "gate g"), (axes[1], "h", "state h")):
        style = {"cmap": "Blues_r", "vmin": 0} if name == "g" else {"cmap": "RdBu_r", "vmin": -1}
        image = ax.imshow(found[name][0].T, aspect="auto", vmax=1, **style)
        ax.set_xticks(range(LENGTH), word.ljust(LENGTH, "."))
        ax.set(title=title, ylabel="unit")
        fig.colorbar(image, ax=ax)
    answer = VOWELS[gated(ids).argmax().item()]
    fig.suptitle(f"{word}: the network says {answer}")
    plt.show()


show_gate("strength")
show_gate("document")

# %% [markdown]
# During the word there is work for the gates; during the dots the state stays what it is, and so does the answer. Which
# letters open the gates? We let the network read 400 new words and take the average for each letter of the alphabet.

# %%
ids, _ = make_batch(words[-400:])
overwritten = 1 - torch.tensor(trace_gates(gated.rnn.cell, gated.embed(ids))["g"]).mean(-1)
by_letter = {letter: overwritten[ids == i].mean().item() for i, letter in enumerate(LETTERS) if (ids == i).sum() > 5}
by_letter.pop(".")
ranked = sorted(by_letter, key=by_letter.get, reverse=True)

plt.figure(figsize=(7, 2.4), layout="constrained")
plt.bar(ranked, [by_letter[c] for c in ranked], color=["C1" if c in VOWELS else "C0" for c in ranked])
plt.title("How much of the memory a letter overwrites (vowels in orange)")
plt.ylabel("mean of 1 − g");

# %% [markdown]
# Nobody told the network what a vowel is, and yet the five vowels are among the first six. And when does it know its answer? We ask it after every letter:

# %%
plt.figure(figsize=(7, 2.4), layout="constrained")
for place, word in enumerate(("strength", "document", "assign")):
    ids, first = make_batch([word])
    known = gated.decide(gated.rnn(gated.embed(ids))[0]).softmax(-1)[0, :, first.item()].detach()
    plt.plot(known, color=f"C{place}", label=word)
    begins = next(i for i, letter in enumerate(word) if letter in VOWELS)
    plt.plot(begins, known[begins], "o", color=f"C{place}")
plt.xlabel("letters read (marked: the first vowel)")
plt.ylabel("probability of\nthe right vowel")
plt.ylim(0, 1.05)
plt.legend();

# %% [markdown]
# At the first vowel the probability jumps, and no later vowel brings it down. The network has found a soft version of
# the program that we wrote by hand.
#
# The same idea, one gate for keeping and writing, exists for the LSTM of the next notebook, too: there the input gate is
# $1 - f$.

# %%
CoupledLSTM(3, 4)

# %% [markdown]
# ## Things to change
#
# 1. Let the gate start closed: `init_gate_bias("g", -2.0)`. How does it learn now?
# 2. Change the formula: let the gate see only the input (`g = sigmoid(x.g)`). Can it still find the *first* vowel? And if
#    the candidate sees only the input, too (`n = tanh(x.n)`)?
# 3. Train for the *last* vowel: change `make_batch`. Which of the two networks finds that easier, and why?
#
# ## What comes next
#
# **Notebook 04** has the cells that everybody uses, the LSTM and the GRU. You already know all their parts: they are two or
# three gates around a memory.
