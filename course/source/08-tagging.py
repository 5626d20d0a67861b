# %% [markdown]
# # 08 · Tagging: softmax, CRF and fed-back tags
#
# A **tagger** gives each word of a sentence a tag: its part of speech, or whether it belongs to a name or a date. In this
# notebook you tag each word by itself, see where that goes wrong, and mend it in two ways: with a **CRF**, which scores
# all tags of a sentence together, and by **feeding the previous tag back** into the network.
#
# Rows of the lectures: 50–54.
#
# You need notebook 05 (bidirectional networks) and notebook 06 (language models).

# %%
import itertools
import random
from collections import Counter, defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from IPython.utils.capture import capture_output

import elman
from elman.course import check
from elman.course.stories import tell_stories
from elman.layers.crf import CRF
from elman.text.spans import tags_to_spans

plt.rcParams.update({"figure.dpi": 75, "figure.figsize": (7, 3)})
torch.manual_seed(1);

# %% [markdown]
# ## Words with several tags
#
# The little stories of notebook 06 know their parts of speech. Most words have one. The interesting ones have two:

# %%
train, test = tell_stories(120, seed=1), tell_stories(300, seed=2)
tags_of = defaultdict(Counter)
for story in tell_stories(2000, seed=3):
    for word, tag in zip(story.words, story.tags, strict=True):
        tags_of[word][tag] += 1
for word, tags in tags_of.items():
    if len(tags) > 1:
        print(f"{word:6}", dict(tags))

story = next(story for story in test if "saw" in story.words and "back" in story.words and "her" in story.words)
print(*(f"{word}/{tag}" for word, tag in zip(story.words, story.tags, strict=True)))

# %% [markdown]
# *Her* is the hardest: in *the wolf saw **her** ring* it belongs to the ring (a determiner), in *the wolf saw **her** near
# the castle* it stands alone (a pronoun). Only the **next** word tells.
#
# ## A softmax at each position (row 50)
#
# A recurrent network, by default one that reads in both directions, gives $y_i$ for each word. A softmax makes
# probabilities of the tags, and each word gets the most probable one:
#
# $$p(t_i \mid w) = \mathrm{softmax}(V y_i + b)[t_i]$$
#
# We train two taggers on 120 sentences: one reads forward, one reads both ways.

# %%
PLAIN = {"characters": "", "affixes": 0, "casing": False, "dropout": 0.0, "word_dropout": 0.0, "calibrate": False}


def train_tagger(sentences, epochs=15, lr=0.01, **model):
    """A small tagger that knows words only: no letters, no capitals; the last weights are kept."""
    sizes = {"hidden": 32, "embedding": 32, "output": "softmax"}
    recipe = {
        "data": {"batch_tokens": 64, "holdout": 0.0},
        "tokens": {"digits": False},
        "model": {**PLAIN, **sizes, **model},
    }
    with capture_output():
        return elman.Tagger.train(sentences, recipe=recipe, epochs=epochs, lr=lr, seed=1)


def pairs(stories):
    return [(story.words, story.tags) for story in stories]


forward = train_tagger(pairs(train), bidirectional=False)
both = train_tagger(pairs(train))
for name, model in {"forward": forward, "both": both}.items():
    print(f"{name:8} {model.evaluate(pairs(test))['accuracy']:.1f} % of the tags are right")

# %% [markdown]
# Both numbers look good, since most words are easy. Look at the hard ones alone, and at *her* after *saw*:

# %%
hard = [word for word, tags in tags_of.items() if len(tags) > 1 and word != "her"] + ["saw her"]


def percent_right(model, asked):
    """Of the last word of `asked`, wherever these words stand."""
    asked = asked.split()
    marks = [
        tags[i - 1] == story.tags[i - 1]
        for story, tags in zip(test, model.tag([story.words for story in test]), strict=True)
        for i in range(len(asked), len(story.words) + 1)
        if list(story.words[i - len(asked) : i]) == asked
    ]
    return 100 * sum(marks) / len(marks)


for shift, (name, model) in zip((-0.2, 0.2), {"forward": forward, "both directions": both}.items(), strict=True):
    plt.bar([i + shift for i in range(len(hard))], [percent_right(model, word) for word in hard], width=0.38, label=name)
plt.xticks(range(len(hard)), hard)
plt.ylim(0, 125)
plt.ylabel("% right")
plt.legend(ncol=2, loc="upper center");

# %% [markdown]
# A tag comes with its probability, so that one can see where the tagger hesitates:

# %%
for sentence in ["the wolf saw her ring", "the wolf saw her near the castle"]:
    ((answer,),) = both.analyse([sentence])
    print(*(f"{word}/{tag} {p:.2f}" for word, tag, p in zip(sentence.split(), answer.tags, answer.confidence, strict=True)))

# %% [markdown]
# ## Vectors that know more words (rows 53, 54)
#
# Labelled sentences are expensive, text is cheap. So let the words be learnt from text alone: a language model (notebook
# 06) reads 2,000 stories **without tags**, and its embeddings become the input of the tagger. In the lectures these
# vectors come from word2vec; any file with a word and its numbers in each line will do.

# %%
with capture_output():
    lm = elman.LanguageModel.train(
        [story.text for story in tell_stories(2000, seed=4)], valid=[story.text for story in tell_stories(50, seed=5)],
        recipe={"model": {"embedding": 32}, "data": {"bptt": 30}},
        hidden=32, layers=1, dropout=0.0, epochs=4, lr=0.02, seed=1,
    )  # fmt: skip
rows = zip(lm.tokenizer.items, lm.net.embed.E.weight.tolist(), strict=True)
lines = [" ".join([word, *(f"{number:.4f}" for number in row)]) for word, row in rows if not word.startswith("<")]
Path("vectors.txt").write_text("\n".join(lines) + "\n")
print(lines[10][:60], "…")

# %% [markdown]
# Now we train with 10 labelled sentences only, in three ways. **Frozen** vectors stay as they are; **fine-tuned** ones are
# trained with the rest. Words that only the file has are known, too.

# %%
WAYS = {
    "no vectors": {},
    "vectors, fine-tuned": {"vectors": "vectors.txt"},
    "vectors, frozen": {"vectors": "vectors.txt", "freeze_vectors": True},
}
few = pairs(train)[:10]
for place, (name, options) in enumerate(WAYS.items()):
    scores = train_tagger(few, epochs=30, **options).evaluate(pairs(test))
    print(f"{name:20} all words {scores['accuracy']:.1f} %   words without a label {scores['unseen_accuracy']:.1f} %")
    plt.barh([place - 0.2, place + 0.2], [scores["accuracy"], scores["unseen_accuracy"]], 0.36, color=["#9ecae1", "#fd8d3c"])
plt.yticks(range(3), WAYS)
plt.gca().invert_yaxis()
plt.xlabel("% right with 10 labelled sentences (blue: all words, orange: words that none of them has)");

# %% [markdown]
# ## When tags depend on each other
#
# Is `05 06 2026` the fifth of June or the sixth of May? In Britain it is the one, in America the other, and often
# nothing in the text tells. One thing is certain: it is not *two days*, and not *two months*. We make a text in which
# both habits are equally frequent, and let the softmax tag it.

# %%
def make_dates(count, seed):
    draw = random.Random(seed)
    sentences = []
    for _ in range(count):
        words = ["on", f"{draw.randint(1, 12):02}", f"{draw.randint(1, 12):02}", "2026", "we", "met"]
        order = draw.choice([["DAY", "MONTH"], ["MONTH", "DAY"]])
        sentences.append((words, ["O", *order, "YEAR", "O", "O"]))
    return sentences


dates, new_dates = make_dates(300, seed=1), make_dates(200, seed=2)


def train_dates(output):
    return train_tagger(dates, epochs=12, lr=0.02, hidden=16, embedding=16, output=output)


def count_pairs(model):
    """How often each pair of tags is given to the two numbers of a date."""
    found = Counter((tags[1], tags[2]) for tags in model.tag([words for words, _ in new_dates]))
    return torch.tensor([[found[a, b] for b in ("DAY", "MONTH")] for a in ("DAY", "MONTH")])


independent = train_dates("softmax")
print(count_pairs(independent))
((answer,),) = independent.analyse([["on", "05", "06", "2026"]])
print(*(f"{tag} {p:.2f}" for tag, p in zip(answer.tags, answer.confidence, strict=True)))

# %% [markdown]
# The rows are the tag of the first number, the columns that of the second. Some dates have **two days** (or two months). The
# softmax is not wrong about any single word: each is a day with a chance of about one half. But it decides for each
# word as if the others did not exist.
#
# ## A CRF over the tags (row 51)
#
# A **conditional random field** scores whole tag sequences. Each word gives its scores $s_i(t)$ (*emissions*, from the
# network), and each pair of neighbours gives $A(t, t')$ (*transitions*, learnt). The probability of a sequence is a softmax
# over **all sequences**:
#
# $$\mathrm{score}(t) = \sum_i s_i(t_i) + \sum_i A(t_{i-1}, t_i) \qquad
# p(t \mid w) = \frac{\exp \mathrm{score}(t)}{\sum_{t'} \exp \mathrm{score}(t')}$$
#
# How many sequences are in that sum?

# %% [markdown]
# ### Exercise 08.1
#
# How many tag sequences are there for a sentence of **10** words and **5** tags?

# %%
sequences = ...
check("08.1", sequences);

# %% [markdown]
# ### Exercise 08.2
#
# Write `score(emissions, transitions, path)`: `emissions[i][t]` is the score of tag `t` at word `i`, `transitions[a][b]` that
# of `b` after `a`, and `path` is a list of tags (numbers). It returns the score of this path.

# %%
def score(emissions, transitions, path): ...


check("08.2", score);

# %% [markdown]
# For a short sentence we can add up all sequences one by one. For a long one there is a shortcut, since the score is a sum
# over neighbours: the **forward algorithm** goes through the words once and keeps, for each tag, the sum over all
# sequences that end with it. It is a recurrence, so it is a scan, too.

# %%
emissions = torch.tensor([[1.0, 0.9], [1.0, 0.9], [0.3, 0.1]])  # three words, two tags
transitions = torch.tensor([[-1.0, 1.0], [1.0, -1.0]])  # the other tag comes next


def path_score(path):
    words = sum(emissions[i, tag] for i, tag in enumerate(path))
    return words + sum(transitions[a, b] for a, b in itertools.pairwise(path))


paths = list(itertools.product([0, 1], repeat=3))
one_by_one = torch.stack([path_score(path) for path in paths]).logsumexp(0)

alpha = emissions[0]
for emission in emissions[1:]:
    alpha = (alpha[:, None] + transitions).logsumexp(0) + emission
print("log of the sum over all sequences, one by one:   ", round(one_by_one.item(), 4))
print("log of the sum over all sequences, word by word: ", round(alpha.logsumexp(0).item(), 4))

crf = CRF(2)
crf.transitions.data = transitions
crf.begin.data.zero_()
crf.end.data.zero_()
everything = torch.ones(1, 3, dtype=torch.bool)
print("elman.layers.crf:                                ", round(crf.log_partition(emissions[None], everything).item(), 4))

# %% [markdown]
# **Viterbi** is the same loop with the maximum in place of the sum: it finds the best sequence without looking at all of
# them. Below are all eight, with their probabilities. Word by word, the best tags would be 0, 0, 0. With these
# transitions that is one of the least probable sequences.

# %%
chances = torch.stack([path_score(path) for path in paths]).softmax(0)
best = tuple(crf.viterbi(emissions[None], everything).tags[0].tolist())
plt.bar(["".join(map(str, path)) for path in paths], chances, color=["#fd8d3c" if path == best else "#9ecae1" for path in paths])
plt.ylabel("probability")
plt.title(f"all tag sequences of three words; Viterbi finds {''.join(map(str, best))}");

# %% [markdown]
# ### Exercise 08.3
#
# Write `best_path(emissions, transitions)`: the path with the highest score, as a list of tags. For a sentence of 20 words
# and 5 tags it must be done in a second, so trying all of them is too slow.

# %%
def best_path(emissions, transitions): ...


check("08.3", best_path);

# %% [markdown]
# Now the dates again, with a CRF on top of the same network:

# %%
chained = train_dates("crf")
print(count_pairs(chained))
((answer,),) = chained.analyse([["on", "05", "06", "2026"]], n_best=3)
for tags, chance in answer.n_best:
    print(f"{chance:.2f}", *tags)

names = chained.tagsets[0].labels.items
plt.figure(figsize=(4, 3.4))
plt.imshow(chained.net.heads[0].crf.transitions.detach(), cmap="RdBu", vmin=-1.2, vmax=1.2)
plt.xticks(range(len(names)), names)
plt.yticks(range(len(names)), names)
plt.xlabel("next tag")
plt.ylabel("tag")
plt.title("transitions learnt: blue is likely")
plt.colorbar();

# %% [markdown]
# No two days, no two months. The CRF still does not know whether it is June or May (nobody does: the two best sequences
# share almost all of the probability), but its answer is **consistent**. The picture shows why: after a day comes a
# month, and a day never comes after a day.
#
# ## The previous tag, fed back (row 52)
#
# The other way is to predict the tags one after the other, and to give each tag to the network before it predicts the
# next one, as a language model reads its own words:
#
# $$p(t \mid w) = \prod_i P(t_i \mid w, t_{<i}) \qquad s_i = R(s_{i-1}, [\,y_i\,;\,T t_{i-1}\,])$$
#
# $T t_{i-1}$ is an embedding of the previous tag. In training the *right* previous tag is given (teacher forcing). When it
# tags, only its own tags are there, so it keeps several hypotheses and takes the best at the end: beam search
# (notebook 11).

# %%
fed_back = train_dates("autoregressive")
print(count_pairs(fed_back))
((answer,),) = fed_back.analyse([["on", "05", "06", "2026"]], n_best=3)
for tags, chance in answer.n_best:
    print(f"{chance:.2f}", *tags)

# %%
fig, axes = plt.subplots(1, 3, figsize=(9, 2.8))
models = {"softmax": independent, "CRF": chained, "fed-back tags": fed_back}
for ax, (name, model) in zip(axes, models.items(), strict=True):
    counts = count_pairs(model)
    ax.imshow(counts, cmap="Blues", vmin=0, vmax=150)
    for a, b in itertools.product(range(2), repeat=2):
        ax.text(b, a, int(counts[a, b]), ha="center", va="center", color="white" if counts[a, b] > 80 else "black")
    ax.set(title=name, xlabel="second number", xticks=range(2), yticks=range(2))
    ax.set_xticklabels(["day", "month"])
    ax.set_yticklabels(["day", "month"])
axes[0].set_ylabel("first number")
plt.tight_layout();

# %% [markdown]
# Both mend the problem, and they differ:
#
# | | softmax | CRF | fed-back tags |
# |---|---|---|---|
# | a tag sees | the words | the words and its neighbours' tags | the words and **all** tags before it |
# | the best sequence | found at once | found exactly (Viterbi) | searched for (beam) |
# | trained on | each word | whole sequences | right tags, which it will not have later (notebook 12) |
#
# ## Tags that mark spans
#
# Names and dates have several words. **BIO** tags mark them: `B-` begins a span, `I-` is inside of it, `O` is outside. Here
# neighbours matter by definition: an `I-LOC` cannot follow an `O`, nor a `B-PER`. Elman takes a CRF for such tags by
# default and lets it choose among well-formed sequences only.

# %%
words = "Ann Smith lives in New York".split()
tags = ["B-PER", "I-PER", "O", "O", "B-LOC", "I-LOC"]
for span in tags_to_spans(tags):
    print(span.label, words[span.start : span.end])

# %% [markdown]
# ### Exercise 08.4
#
# Which of these sequences are **ill-formed** in BIO? Answer with a set of letters.
#
# - a: `O B-PER I-PER O`
# - b: `O I-PER O O`
# - c: `B-LOC B-LOC I-LOC O`
# - d: `B-PER I-LOC O O`
# - e: `B-LOC O O B-PER`

# %%
ill_formed = ...
check("08.4", ill_formed);

# %% [markdown]
# ## Things to change
#
# 1. Make American dates more frequent: `draw.choices([…], weights=[1, 3])[0]` in `make_dates`. What does the softmax say now,
#    and why is it suddenly consistent?
# 2. Put a word between the two numbers (`"05", "of", "06"`, tagged `O`, and count `tags[3]` in `count_pairs`). Does the CRF,
#    which knows only neighbours, still know? Do the fed-back tags?
# 3. Train with `epochs=3` and compare the transitions.
#
# With data of your own: `elman train tagger --train train.conll --output crf --out models/tags`.
#
# ## What comes next
#
# A tagger writes one tag for each word. A translation has another length than its source. **Notebook 09** reads a whole
# sequence first, and then writes another one: encoder and decoder.
