/** What the page shows at this moment, and who wants to know when it changes. */

/** Kinds of news: `reading` (another text or another formula was read), `cell` (another unit and position are looked at). */
export class PageState {
  #listeners = { reading: [], cell: [] };

  constructor(engine, text) {
    this.own = engine; // the model as it was trained
    this.engine = engine; // it, or the same weights under an edited formula
    this.text = text;
    this.reading = engine.read(text);
    this.cell = { layer: 0, unit: 0, position: 0 };
    this.cell.position = this.last;
  }

  /** The last position that the chosen layer read: of the text, or of the answer. */
  get last() {
    const run = this.reading.layers.find(({ index }) => index === this.cell.layer);
    const count = run ? Object.values(run.values)[0].rows : this.reading.tokens.length;
    return Math.max(0, count - 1);
  }

  /** Does the chosen layer read the text? A decoder's reads the answer. */
  get readsText() {
    return this.engine.info.layers[this.cell.layer]?.part !== "decoder";
  }

  listen(kind, listener) {
    this.#listeners[kind].push(listener);
    listener(this);
  }

  #tell(kind) {
    for (const listener of this.#listeners[kind]) listener(this);
  }

  setText(text) {
    this.text = text;
    this.readAgain();
  }

  setEngine(engine) {
    this.engine = engine;
    this.readAgain();
  }

  readAgain() {
    const following = this.cell.position >= this.last; // whoever looks at the end goes on looking at the end
    this.reading = this.engine.read(this.text);
    this.cell.position = following ? this.last : Math.min(this.cell.position, this.last);
    this.#tell("reading");
    this.#tell("cell");
  }

  look(cell) {
    Object.assign(this.cell, cell);
    this.cell.position = Math.min(this.cell.position, this.last);
    this.#tell("cell");
  }
}
