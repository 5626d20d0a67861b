# %% [markdown]
# # 02 · Gradients through time
#
# A network learns from the gradient of its loss. In a recurrent network the gradient must travel back through all
# steps, from the last word to the first. On the way it is multiplied again and again, and what is multiplied
# again and again becomes either almost nothing or enormous. This notebook shows both, measures them, and shows what they
# do to learning.
#
# Rows of the lectures: 12.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

from elman.cells import LSTM, Elman, ReLUElman
from elman.course import check
from elman.inspect import gradient_norms
from elman.layers import RNN

plt.rcParams.update({"figure.dpi": 75, "figure.figsize": (7, 3)})
torch.manual_seed(0);

# %% [markdown]
# ## One unit
#
# Take a network with a single unit and no input: $s_i = u \cdot s_{i-1}$. After $n$ steps $s_n = u^n s_0$, so
#
# $$\frac{\partial s_n}{\partial s_0} = u^n$$
#
# A small difference in $u$ becomes a huge difference after a hundred steps:

# %%
for u in (0.9, 1.0, 1.1):
    print(f"u = {u}: after 10 steps {u**10:8.3f}, after 100 steps {u**100:12.5f}")

# %% [markdown]
# With an activation function there is one more factor in each step: the slope of the function. For
# $s_i = g(u \cdot s_{i-1} + x_i)$ the chain rule gives
#
# $$\frac{\partial s_n}{\partial s_0} = \prod_{i=1}^{n} u \cdot g'(\ldots)$$
#
# The slope of $\tanh$ is never more than 1. It is exactly 1 only at zero. The slope of ReLU is 1 wherever the unit is
# active, and 0 where it is not.

# %%
a = torch.linspace(-4, 4, 200, requires_grad=True)
fig, axes = plt.subplots(1, 2, figsize=(7, 2.4), layout="constrained", sharex=True)
for name, g in (("tanh", torch.tanh), ("ReLU", torch.relu)):
    (slope,) = torch.autograd.grad(g(a).sum(), a)
    axes[0].plot(a.detach(), g(a).detach(), label=name)
    axes[1].plot(a.detach(), slope, label=name)
axes[0].set(title="the function g", ylim=(-1.5, 3))
axes[1].set(title="its slope g'", ylim=(-0.1, 1.2))
axes[0].legend();

# %% [markdown]
# ### Exercise 02.1
#
# The slope of $\tanh$ can be computed from its output alone: if $h = \tanh(a)$, which function of $h$ is the slope at
# $a$? Write it.

# %%
def slope(h): ...


check("02.1", slope);

# %% [markdown]
# ## Many units (row 12)
#
# With a vector of states, $u$ becomes the matrix $U$ and the product becomes a product of matrices. We need not do this
# by hand: `gradient_norms` runs a cell, puts a loss on the last output, and gives the length of the gradient
# $\lVert \partial L / \partial s_t \rVert$ for every step $t$.
#
# We compare the two simple networks, with $\tanh$ and with ReLU. Both get the same matrix: orthogonal (it turns a
# vector and keeps its length) times 1.6.

# %%
def make_cell(kind, gain, seed=0, size=32):
    torch.manual_seed(seed)
    cell = kind(16, size)
    for U in cell.U:
        U.data.mul_(gain)
    return cell


xs = torch.randn(16, 100, 16)  # 16 sequences of 100 random vectors


def plot_back(curves, title):
    for name, norms in curves.items():
        plt.semilogy(range(len(norms) - 1, -1, -1), np.maximum(norms, 1e-12), label=name)
    plt.gca().invert_xaxis()
    plt.xlabel("steps back from the loss")
    plt.ylabel("‖dL/ds‖")
    plt.title(title)
    plt.grid(alpha=0.3)
    plt.legend()


curves = {"tanh": gradient_norms(make_cell(Elman, 1.6), xs), "ReLU": gradient_norms(make_cell(ReLUElman, 1.6), xs)}
plot_back(curves, "The same matrix: tanh vanishes, ReLU explodes")

# %% [markdown]
# Read the picture from right to left, as the gradient travels. The scale is logarithmic, so a straight line means: the
# same factor at every step. With $\tanh$ the gradient **vanishes**: a hundred steps back, there is next to nothing
# left, and the weights cannot learn from what stood there. With ReLU it **explodes**: a single update of such a size
# destroys everything that was learned.
#
# ### Exercise 02.2
#
# In some network, every step multiplies the gradient by 0.9. Which share of it is left after 50 steps?

# %%
share = ...
check("02.2", share);

# %% [markdown]
# How strong the matrix is decides which of the two happens. Here is the average factor of one step, for many strengths:

# %%
gains = np.linspace(0.4, 2.0, 9)
short = xs[:4, :40]
for name, kind in (("tanh", Elman), ("ReLU", ReLUElman)):
    factors = []
    for gain in gains:
        norms = gradient_norms(make_cell(kind, gain), short)
        factors.append((norms[0] / norms[-1]) ** (1 / 40))
    plt.plot(gains, factors, "o-", label=name)
plt.axhline(1, color="gray", linestyle=":")
plt.text(0.42, 1.03, "explodes above, vanishes below", color="gray")
plt.xlabel("strength of U (the factor on an orthogonal matrix)")
plt.ylabel("factor of one step")
plt.legend();

# %% [markdown]
# Both vanish where the matrix is weak. As it gets stronger, ReLU crosses the line soon and steeply. $\tanh$ bends: a
# stronger matrix drives the units towards $\pm 1$, where the slope of $\tanh$ is almost zero. It explodes only with a
# very strong matrix, and then slowly. On the line itself nothing vanishes and nothing explodes, but no simple network
# stays there while it learns.
#
# ### Exercise 02.3
#
# A ReLU network has only positive numbers everywhere, so that all its units are always active. Its matrix is orthogonal,
# times 1.2. What does the gradient do on its way back: `"vanishes"`, `"explodes"` or `"stays"`?

# %%
answer = ...
check("02.3", answer);

# %% [markdown]
# ## What this does to learning
#
# A task with a memory: the network reads one letter that matters (*a*, *b*, *c* or *d*), then only noise, and at the end
# it must name the letter. The longer the noise, the further the gradient must travel. Guessing is right in 25 % of
# all cases.

# %%
def make_batch(count, noise, draw):
    """The first letter (0–3) and then ``noise`` letters from 4 to 9."""
    first = torch.randint(4, (count, 1), generator=draw)
    rest = torch.randint(4, 10, (count, noise), generator=draw)
    return torch.cat([first, rest], 1), first[:, 0]


class Reader(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.embed = nn.Embedding(10, cell.input_size)
        self.rnn = RNN(cell)
        self.decide = nn.Linear(cell.output_size, 4)

    def forward(self, ids):
        return self.decide(self.rnn.last_output(self.embed(ids)))


def train(net, noise, updates=150, lr=0.003, clip=1.0, method=torch.optim.Adam):
    """The losses of all updates, and the lengths of their gradients, which are clipped to ``clip``."""
    draw, losses, norms = torch.Generator().manual_seed(0), [], []
    optimizer = method(net.parameters(), lr=lr)
    for _ in range(updates):
        ids, first = make_batch(64, noise, draw)
        loss = nn.functional.cross_entropy(net(ids), first)
        optimizer.zero_grad()
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(net.parameters(), clip).item())  # the length before
        optimizer.step()
        losses.append(loss.item())
    return losses, norms


def accuracy(net, noise):
    ids, first = make_batch(500, noise, torch.Generator().manual_seed(1))
    return 100 * (net(ids).argmax(1) == first).float().mean().item()


lengths = [2, 5, 10, 20, 40]
cells = {
    "simple network (tanh)": lambda: Elman(16, 32),
    "LSTM": lambda: LSTM(16, 32),
    "LSTM, forget gate open": lambda: LSTM(16, 32, forget_bias=4.0),
}
for name, make in cells.items():
    scores = []
    for noise in lengths:
        torch.manual_seed(0)
        net = Reader(make())
        train(net, noise)
        scores.append(accuracy(net, noise))
    plt.plot(lengths, scores, "o-", label=name)
plt.axhline(25, color="gray", linestyle=":", label="guessing")
plt.xlabel("letters of noise")
plt.ylabel("accuracy, %")
plt.ylim(0, 105)
plt.title("Which letter came first?")
plt.legend();

# %% [markdown]
# All networks saw the same number of examples. The simple network learns the task while the letter is near, and from
# ten letters of noise on it can hardly do better than guess. The LSTM (notebooks 03 and 04) has gates that keep the
# gradient alive; the more they are open at the beginning, the further it learns. You can see why before any training:
# how much of the gradient comes back to the first letter?

# %%
torch.manual_seed(0)
plot_back({name: gradient_norms(make(), xs) for name, make in cells.items()}, "Before any training")

# %% [markdown]
# ## Which letter still matters?
#
# The gradient also says which inputs an answer depends on. $\partial h_{n} / \partial x_k$ is how much the last state
# changes if letter $k$ changes a little. Below: a fresh simple network reads a sentence.

# %%
sentence = "the early letters fade away"
torch.manual_seed(0)
embedded = nn.Embedding(128, 16)(torch.tensor([[ord(c) for c in sentence]])).detach().requires_grad_()
RNN(Elman(16, 32)).last_output(embedded).norm().backward()
strength = embedded.grad[0].norm(dim=1)

plt.figure(figsize=(7, 2.2), layout="constrained")
plt.bar(range(len(sentence)), strength / strength.max())
plt.xticks(range(len(sentence)), sentence)
plt.ylabel("influence on\nthe last state");

# %% [markdown]
# ## What helps
#
# Against **explosions** there is a simple remedy, gradient **clipping**: if the gradient is longer than a limit, make it
# that long, and keep its direction. We train a ReLU network with a strong matrix by plain gradient descent, with
# clipping and without.

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for name, limit in (("not clipped", float("inf")), ("clipped to 1", 1.0)):
    torch.manual_seed(0)
    net = Reader(make_cell(ReLUElman, 1.8))
    losses, norms = train(net, 10, updates=150, lr=0.05, clip=limit, method=torch.optim.SGD)
    left.plot(losses, label=name)
    right.semilogy(norms, label=name)
left.set(title="Loss", xlabel="updates", ylim=(0, 5.2))
right.set(title="Length of the gradient (before clipping)", xlabel="updates")
left.legend();

# %% [markdown]
# The first gradients are about sixty long. Without clipping, two steps of that size are enough: they throw the weights
# so far away that the network only guesses from then on. With clipping, the same network learns the task. Elman clips by
# default; the option is `training.grad_clip`.
#
# Against **vanishing** there is no such trick after the fact: what has become zero cannot be scaled up again. The network
# itself must change. It needs a path on which the gradient is *not* multiplied by small numbers: gates.
#
# ### Exercise 02.4
#
# Write the clipping of one vector: if it is longer than `limit`, scale it to that length; if not, leave it as it is.

# %%
def clip(gradient, limit): ...


check("02.4", clip);

# %% [markdown]
# ## Things to change
#
# 1. In `make_cell`, use `kind(16, 128)`: do wider networks vanish more slowly?
# 2. Train the simple network on forty letters of noise for 600 updates instead of 150. Does patience help?
# 3. Set the forget bias in the picture of the LSTM to −2. What happens, and why? (`LSTM(16, 32, forget_bias=-2.0)`)
#
# `elman compare` draws such pictures for any cells from the command line, after training, too.
#
# ## What comes next
#
# **Notebook 03** builds gates by hand: first hard ones, with zeros and ones, then soft ones that can be trained.
