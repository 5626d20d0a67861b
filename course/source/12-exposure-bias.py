"""Notebook 12: a model that reads its own mistakes."""

# %% [markdown]
# # 12 · Exposure bias and its remedies
#
# In training, a decoder reads the **right** words. In use, it reads **its own** words, mistakes included. It was never
# *exposed* to them. In this notebook you measure what this costs, and you try every remedy of lecture 001: scheduled
# sampling, minimum risk, reinforcement, MIXER and professor forcing.
#
# Rows of the lectures: 61–66.
#
# You need notebooks 09 and 11. Notebook 10 is mentioned once.

# %%
import copy
import random

import matplotlib.pyplot as plt
import torch

import elman
from elman.course import check
from elman.course.number_words import english_number, german_number
from elman.decoding import Greedy, ScheduledSampling, rollout
from elman.inspect.exposure import measure_task_exposure
from elman.metrics import edit_rate
from elman.objectives import MixerConfig, ProfessorConfig, ReinforceConfig, RiskConfig, ScheduledSamplingConfig
from elman.tasks.seq2seq import Seq2SeqExample

plt.rcParams.update({"figure.dpi": 75, "figure.figsize": (7, 3)})

# %% [markdown]
# ## The task: numbers, letter by letter
#
# We translate numbers to German again. The model reads words, but now it writes **letters**, and the German number is one
# word, as it should be: *siebenhundertdreiundsiebzig*. So an output has up to 30 steps, and an early mistake has many
# steps to do harm. We train on 400 numbers and test on 100 others. (While it trains, Elman cuts an answer at twice the
# number of source tokens and ten, which is too short for letters. So look at `nats_per_token` there, the loss.)

# %%
numbers = list(range(1, 1000))
random.Random(0).shuffle(numbers)
pairs = [(english_number(n), german_number(n).replace(" ", "")) for n in numbers]
train, test = pairs[:400], pairs[600:700]


def learn(decoder, epochs):
    """A small model that reads words and writes letters."""
    network = {"decoder": decoder, "decoder_init": "copied", "bidirectional": False, "embedding": 16}
    return elman.Seq2Seq.train(
        train[:-30],
        valid=train[-30:],
        recipe={
            "data": {"batch_tokens": 1200},
            "tokens": {"source": {"kind": "words"}, "target": {"kind": "chars"}},
            "model": {**network, "label_smoothing": 0.0, "metric": "nats_per_token"},
            "training": {"evaluate_every": 60},
        },
        layers=1,
        hidden=48,
        dropout=0.0,
        epochs=epochs,
        lr=0.02,
    )


def write(model, pairs):
    """What a model writes by itself, greedily."""
    view = model.sequence_model()
    begun = view.begin(view.collate(model.encode([Seq2SeqExample(source, (target,)) for source, target in pairs])))
    with torch.no_grad():
        rows = rollout(begun.step, begun.state, Greedy(), start=begun.start, stop=begun.stop, limit=begun.limit)
    return [model.tokenizers.target.decode([i for i in row if i > 2]) for row in rows.tokens.tolist()]


plain = learn("plain", epochs=40)

# %% [markdown]
# ## Maximum likelihood is teacher forcing (row 61)
#
# Training makes the right output probable: it maximises
# $\log P(w^{(1)} \dots w^{(T)}) = \sum_t \log P(w^{(t)} \mid w^{(1)} \dots w^{(t-1)})$. So a sequence becomes **T training
# items**. Each of them is a classification: given the *right* beginning, what is the next token? Here are the items of
# one pair.

# %%
view = plain.sequence_model()
batch = view.collate(plain.encode([Seq2SeqExample("twelve", ("zwölf",))]))
with torch.no_grad():
    log_probs = view.score(batch, view.targets(batch)).log_probs[0]
tokens = [*"zwölf", "</s>"]
for place, token in enumerate(tokens):
    print(f"{''.join(tokens[:place]) or '(start)':8} -> {token:5} costs {-log_probs[place]:.2f}")
print(f"mean {-log_probs.mean():.4f}, and the loss of training is {view.likelihood(batch).item():.4f}")

# %% [markdown]
# Whatever the model itself would write, it reads the right letters. This is called **teacher forcing**. It is fast (all T
# items in one pass), and it works well. But the model never practises to go on after a mistake.
#
# ### Exercise 12.1
#
# How many training items does the pair *one hundred* / *einhundert* give to a model that writes letters?

# %%
items = ...
check("12.1", items);

# %% [markdown]
# ## Exposure bias, measured (row 63)
#
# Let the model read k letters **of its own** instead of the right ones, and ask again: what does the right letter cost
# now, and how much **more** is that than after the right letters? The mean of this excess, in nats per token, is one
# number for the exposure bias. We compare two models: `plain` of above, and one with attention (notebook 10).

# %%
attending = learn("luong", epochs=20)
measured = {}
for name, model in (("plain", plain), ("attention", attending)):
    measured[name] = measure_task_exposure(model, model.read_dataset(test))
    print(f"{name:10} exposure bias {measured[name].bias:.2f} nats a token")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
for name, found in measured.items():
    left.plot(range(1, len(found.excess) + 1), found.excess, "o-", label=name)
left.set(xlabel="k, own letters read before", ylabel="extra cost, nats", title="The right letter costs more and more")
left.legend()
for way, run in (("teacher forcing", measured["plain"].forced), ("free running", measured["plain"].free)):
    enough = run.counts >= 20
    right.plot(range(1, enough.sum() + 1), run.right[enough], ".-", label=way)
right.set(xlabel="position", ylabel="share of right letters", title="plain: forced and free", ylim=(0, 1.05))
right.legend();

# %% [markdown]
# `plain` has the source in its first state only, and it soon depends on what it wrote itself. After a few wrong letters
# the right one is a surprise. The model with attention looks at the source again at each step, so a wrong letter does
# little harm. **A better model is the first remedy.**
#
# See how an early mistake spreads. All answers begin well, and each of them goes on after its first wrong letter as if
# that letter were right: it ends as a perfect German number, only another one.

# %%
for (source, target), answer in zip(test[:6], write(plain, test[:6])):
    print(f"{source:28} {target:29} {answer}")

# %% [markdown]
# ### Exercise 12.2
#
# A model writes each letter correctly with probability 0.98, as long as all letters before are right. What is the
# probability that **all 25** letters of a word are right? (Two digits after the point are enough.)

# %%
all_right = ...
check("12.2", all_right);

# %% [markdown]
# ## The remedies
#
# An **objective** of Elman is a function: from a model and a batch to a loss. So all remedies fit into one small loop. It
# starts from a copy of `plain` and makes 24 updates. (The command line does this with `--init DIR` and
# `--set objective.kind=risk`.)

# %%
UPDATES = 24


def improve(build):
    """A copy of the plain model after some updates with another objective."""
    torch.manual_seed(0)
    model = copy.deepcopy(plain)
    view, order = model.sequence_model(), random.Random(0)
    objective = build(view)
    optimizer = torch.optim.Adam(model.net.parameters(), lr=0.004)
    model.net.train()
    for update in range(UPDATES):
        examples = [Seq2SeqExample(source, (target,)) for source, target in order.sample(train, 96)]
        loss = objective(view, view.collate(model.encode(examples)), update / UPDATES)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.net.parameters(), 1.0)
        optimizer.step()
    model.net.eval()
    return model


results = {"start": plain}
results["likelihood"] = improve(lambda view: lambda model, batch, progress: model.likelihood(batch))

# %% [markdown]
# *likelihood* is the control: the same updates with the old loss. A remedy should be better than that.
#
# ### Scheduled sampling: teacher forcing with probability p (row 62)
#
# At each step, toss a coin. With probability p the decoder reads the right token, otherwise its own. p may fall during
# training, so that the model first learns from the teacher and later stands on its own feet (Bengio et al. 2015).

# %%
fig, ax = plt.subplots()
xs = [i / 50 for i in range(51)]
for schedule in ("linear", "inverse_sigmoid", "exponential"):
    objective = ScheduledSamplingConfig(schedule=schedule, p_end=0.25).build(view)
    ax.plot(xs, [objective.p(x) for x in xs], label=schedule)
ax.set(xlabel="share of training that is done", ylabel="p", ylim=(0, 1.05), title="Three ways to let the teacher go")
ax.legend();

# %% [markdown]
# Here is what the decoder reads for one number with p = 0.5. Right letters are capital, and small ones are the model's own
# mistakes. After such a mistake the teacher may come back in the middle of a word, and the model learns to go on from
# there.

# %%
source, target = test[0]
batch = view.collate(plain.encode([Seq2SeqExample(source, (target,))]))
targets, begun = view.targets(batch).tokens, view.begin(batch)
policy = ScheduledSampling(targets, p=0.5, other=Greedy(), generator=torch.Generator().manual_seed(0))
with torch.no_grad():
    mixed = rollout(begun.step, begun.state, policy, start=begun.start, stop=begun.stop, limit=targets.shape[1])
letters = plain.tokenizers.target.items
written = [letters[i] for i in mixed.tokens[0]]
right = [letters[i] for i in targets[0]]
print("right:", "".join(right))
print("read: ", "".join(a.upper() if a == b and len(a) == 1 else a for a, b in zip(written, right)))

# %%
results["scheduled"] = improve(ScheduledSamplingConfig(schedule="linear", p_end=0.25).build)

# %% [markdown]
# ### Minimum risk (row 64)
#
# Likelihood cares about single tokens. But we want whole outputs that are good by some **cost**: 1 - BLEU, or here the
# share of letters to edit. Minimum risk training (Shen et al. 2016) draws some candidates $y$ from the model and makes the
# expected cost small:
#
# $$\mathrm{risk} = \sum_y Q(y)\, \mathrm{cost}(y), \qquad Q(y) \propto P(y)^{\alpha}$$
#
# The sum goes over the candidates only, and $Q$ has the sum 1 over them. So candidates with a smaller cost become more
# probable.
#
# ### Exercise 12.3
#
# Write it as a function. `log_probs` and `costs` are tensors with a number for each candidate. (A softmax of
# $\alpha \log P$ gives $Q$. Why?)


# %%
def risk(log_probs, costs, alpha):
    ...


check("12.3", risk);

# %%
results["risk"] = improve(RiskConfig(cost="edits", samples=6).build)

# %% [markdown]
# ### Reinforcement and MIXER (row 65)
#
# **Reinforcement** treats the output as a series of actions, with a reward at the end: in the lecture BLEU, here minus
# the edits. A sample that is better than a **baseline** becomes more probable, a worse one less. As baseline we take what
# the model writes greedily. It needs a model that was trained by likelihood before: samples of an untrained one are all
# equally bad.
#
# **MIXER** (Ranzato et al. 2016) goes there step by step. It trains the beginning of a sequence by likelihood and only the
# last steps by reward: first Δ of them, then 2Δ, and so on.

# %%
mixer = MixerConfig(cost="edits", delta=4, every=0.2)
shares = [i / 100 for i in range(101)]
fig, ax = plt.subplots(figsize=(7, 2.2))
ax.step(shares, [mixer.build(view).own_steps(share) for share in shares], where="post")
ax.set(xlabel="share of training that is done", ylabel="steps by reward", title="MIXER: Δ = 4, more every fifth of the run")

results["reinforce"] = improve(ReinforceConfig(cost="edits").build)
results["mixer"] = improve(mixer.build)

# %% [markdown]
# ### Exercise 12.4
#
# For one source the model draws three samples. Their costs are **A** 0.1, **B** 0.5 and **C** 0.3. Its greedy output has
# the cost 0.3. With the greedy output as baseline, which samples become **more** probable? Answer with a list of letters.

# %%
more_probable = ...
check("12.4", more_probable);

# %% [markdown]
# ### Professor forcing (row 66)
#
# Goyal et al. (2016) take an idea from GANs. A **discriminator** reads sequences of hidden states and learns to tell free
# running from teacher forcing. The model learns to fool it, in addition to its likelihood. If nobody can tell the two
# modes apart, they are alike.

# %%
results["professor"] = improve(ProfessorConfig(hidden=32, lr=0.01, low=0.5).build)

# %% [markdown]
# ## What helped?
#
# Two numbers for each: the **edits** per hundred letters when the model writes by itself (this is what we want to be
# small), and the **exposure bias**. The last column shows what became of one number. The last line is the model with
# attention, without any remedy.

# %%
question, answer = test[2]
print(f"{'':12}{'edits':>6}{'bias':>7}   {question} = {answer}")
edits, biases = {}, {}
for name, model in {**results, "attention": attending}.items():
    edits[name] = edit_rate(write(model, test), [[target] for _, target in test])
    biases[name] = measure_task_exposure(model, model.read_dataset(test), most=50).bias
    print(f"{name:12}{edits[name]:6.1f}{biases[name]:7.2f}   {write(model, [test[2]])[0]}")

# %%
fig, ax = plt.subplots(figsize=(7, 3.5))
for name in results:
    ax.plot(biases[name], edits[name], "o", markersize=9, color="black" if name == "start" else None)
    below = name in ("professor", "start")
    ax.annotate(name, (biases[name], edits[name]), xytext=(8, -12 if below else 4), textcoords="offset points")
ax.set(xlabel="exposure bias, nats a token", ylabel="edits per 100 letters", title="Lower and further left is better")
ax.margins(0.2);

# %% [markdown]
# This is one seed, a small model and 24 updates; model and data were chosen so that exposure bias shows at all. Differences
# of one edit mean nothing here, and your numbers may differ. Three things are worth seeing:
#
# - **Scheduled sampling** lowers the exposure bias most: it trains exactly what the bias measures. The answers are hardly
#   better than those of the control.
# - **Risk** and **reinforcement** have the fewest edits: they train exactly what the edits measure. The exposure bias does
#   not fall. They may find cheap tricks: endings that many numbers share, which are never quite right and never very wrong.
# - **MIXER** and **professor forcing** need more time than this. Here professor forcing hardly differs from the control,
#   and MIXER is worse.
#
# Elman's own measurements on real translation (Multi30k, three seeds) say the same, see
# [docs/exposure.md](../docs/exposure.md): risk and reinforcement gained 1.2 to 1.6 BLEU with greedy decoding, scheduled
# sampling lowered the bias and gained nothing. **You get what you train for**, and the strongest remedy was attention.
#
# ## Things to change
#
# 1. Start from `attending` instead of `plain` (`copy.deepcopy(attending)` in `improve`). What is left for the remedies to
#    do?
# 2. Add `likelihood=0.5` to `RiskConfig`: half of the loss is likelihood then. Are the numbers that it writes better?
# 3. Take 100 updates instead of 24. Which objective gains most from more time?
#
# ## What comes next
#
# This is the last notebook. You have seen every row of the four lectures: from one line of a recurrence to translation,
# attention, search and training by reward. Now take your own text:
#
# - `elman demo` trains on data that installs with the package;
# - [docs/getting-started.md](../docs/getting-started.md) has one command for each task;
# - [docs/cells.md](../docs/cells.md) shows how to write a cell of your own, in ten lines.
