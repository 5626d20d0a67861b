// Beam search over one text, with its tree: the search of decoding/beam_search.py.
import { rankGreatest } from "./matrix.js";

const DEFAULTS = { width: 5, factor: Infinity, lengthPenalty: 1, limit: 40, narrow: true, nBest: 1 };

// `begin` and `step(state, id)` give states {log, …}: log-probabilities of what comes next. `ends(id)` says which
// token is the last. The tree's root, before the first token, is -1.
export function searchBeam({ begin, step, ends, show, decode, ...given }) {
  const options = { ...DEFAULTS, ...given };
  const search = { tree: [], completed: [], width: options.width, closed: "" };
  let front = [{ state: begin, id: -1, score: 0, ids: [] }];
  for (let length = 1; length <= options.limit && front.length && !search.closed; length++) {
    const offered = offer(front, options.width);
    const kept = prune(offered, search, options, length, show);
    kept.forEach((one) => (one.ended = ends(one.token) || length === options.limit));
    kept.filter((one) => one.ended).forEach((one) => complete(search, one, length, options));
    const live = kept.filter((one) => !one.ended);
    search.closed = reasonToClose(search, live, length, options);
    front = search.closed ? [] : live.map((one) => ({ ...one, state: step(one.parent.state, one.token) }));
  }
  const answers = search.completed.map(({ ids, score, logs }) => ({
    text: decode(ids),
    tokens: ids.map(show),
    ids,
    score,
    logs,
  }));
  markBest(search);
  return { tree: search.tree, answers, closed: search.closed };
}

// All continuations, the best first; of equal ones the earlier hypothesis, then the lower token.
function offer(front, width) {
  const all = front.flatMap((parent) =>
    rankGreatest(parent.state.log, width).map((token) => ({
      parent,
      token,
      log: parent.state.log[token],
      score: parent.score + parent.state.log[token],
    })),
  );
  return all.filter((one) => one.score > -Infinity).sort((a, b) => b.score - a.score);
}

// Writes what was offered into the tree, and returns what is kept: near the best, and as many as have a place.
function prune(offered, search, options, length, show) {
  const bound = offered.length ? offered[0].score - Math.log(options.factor) : 0;
  const kept = [];
  offered.slice(0, 2 * options.width).forEach((one, rank) => {
    const near = one.score >= bound || rank === 0;
    const stays = near && rank < search.width;
    const node = { id: search.tree.length, parent: one.parent.id, step: length, token: show(one.token) };
    Object.assign(node, { logp: one.log, score: one.score, state: stays ? "kept" : "pruned", best: false });
    node.why = stays ? "" : near ? "width" : "factor";
    search.tree.push(node);
    const logs = [...(one.parent.logs ?? []), one.log];
    if (stays) kept.push({ ...one, id: node.id, ids: [...one.parent.ids, one.token], logs });
  });
  return kept;
}

function complete(search, { id, ids, logs, score }, length, options) {
  const rank = score / length ** options.lengthPenalty;
  const place = search.completed.findIndex((other) => other.score < rank);
  search.completed.splice(place < 0 ? search.completed.length : place, 0, { id, ids, logs, score: rank });
  Object.assign(search.tree[id], { state: "completed", why: "ended" });
  if (options.narrow) search.width -= 1;
}

// Nothing that goes on can come among the best any more: more tokens never raise the log-probability.
function reasonToClose(search, live, length, options) {
  const hope = Math.max(-Infinity, ...live.map((one) => one.score));
  const toBeat = search.completed[options.nBest - 1]?.score ?? -Infinity;
  if (hope / options.limit ** options.lengthPenalty > toBeat) return "";
  if (hope > -Infinity) return "bound";
  if (length === options.limit) return "limit";
  return search.completed.length ? "completed" : "forbidden";
}

function markBest({ tree, completed }) {
  for (let id = completed[0]?.id ?? -1; id >= 0; id = tree[id].parent) tree[id].best = true;
}
