// @ts-check
// Plots over time, drawn by uPlot. The words beside a plot say what its lines say now.
import {colour, fill, h, say} from './dom.js';
import {changes} from './theme.js';
import {SPAN} from './tide.js';

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {string} ink a colour of the style sheet
 * @property {boolean} [dash]
 * @property {boolean} [filled] down to zero
 * @property {boolean} [stepped]
 */

/** A plot of some lines. */
export class Plot {
  /**
   * @param {string} title
   * @param {Line[]} lines from back to front
   * @param {(value: number | null | undefined) => string} words
   */
  constructor(title, lines, words) {
    this.title = title;
    this.lines = lines;
    this.words = words;
    /** @type {any} */
    this.data = [[], ...lines.map(() => [])];
    this.values = lines.map(() => h('b'));
    this.box = h('div', {className: 'canvas', role: 'img', 'aria-label': title});
    const key = h('ul', {className: 'key'}, ...lines.map((line, i) =>
      h('li', {className: line.ink}, h('i', {className: line.dash ? 'dash' : line.filled ? 'fill' : ''}), line.name + ' ', this.values[i])));
    this.element = h('figure', {className: 'plot'}, h('h2', {}, title), key, this.box);
    this.resizes = new ResizeObserver(() => this.#fit());
    this.resizes.observe(this.box);
    this.onTheme = () => this.#draw();
    changes.addEventListener('change', this.onTheme);
  }

  /** @param {any} data the times in seconds, then the values of each line */
  show(data) {
    this.data = data;
    if (this.plot) this.plot.setData(data);
    else this.#draw();
    this.#say(null);
  }

  /** @param {number | null | undefined} at the index that the mouse points at */
  #say(at) {
    this.lines.forEach((_, i) => {
      const values = this.data[i + 1];
      say(this.values[i], this.words(values[at ?? values.length - 1]));
    });
    if (at === null) this.box.setAttribute('aria-label', this.title + ': ' + this.lines.map((line, i) => `${line.name} ${this.values[i].textContent}`).join(', '));
  }

  #fit() {
    if (this.plot && this.box.clientWidth) this.plot.setSize({width: this.box.clientWidth, height: this.box.clientHeight});
  }

  #draw() {
    this.plot?.destroy();
    fill(this.box);
    const width = this.box.clientWidth;
    if (!width) return;
    const soft = colour('soft');
    const axis = {stroke: soft, font: '12px sans-serif', grid: {stroke: colour('line'), width: 1}, ticks: {show: false}};
    const options = {
      width,
      height: this.box.clientHeight,
      legend: {show: false},
      padding: [8, 18, 0, 0],
      cursor: {y: false, drag: {x: false, y: false}, points: {size: 6}},
      scales: {
        x: {range: (/** @type {any} */ _, /** @type {number} */ low, /** @type {number} */ high) => [high - SPAN, high]},
        // An idle model has nothing but zeros, or no value at all.
        y: {range: (/** @type {any} */ _, /** @type {number} */ low, /** @type {number} */ high) => [0, high > 0 ? high * 1.1 : 1]},
      },
      axes: [
        {...axis, grid: {show: false}, values: (/** @type {any} */ _, /** @type {number[]} */ times) => times.map(clock), space: 80, incrs: [1, 2, 5, 10, 15, 30, 60, 120, 300]},
        {...axis, size: 62, values: (/** @type {any} */ _, /** @type {number[]} */ ticks) => ticks.map(tick => this.words(tick)), space: 36},
      ],
      series: [{}, ...this.lines.map(line => ({
        stroke: colour(line.ink),
        width: line.filled ? 1 : 1.5,
        dash: line.dash ? [4, 3] : undefined,
        fill: line.filled ? colour(line.ink) : undefined,
        points: {show: false},
        spanGaps: true,
      }))],
      hooks: {setCursor: [(/** @type {any} */ plot) => this.#say(plot.cursor.idx)]},
    };
    this.plot = new (/** @type {any} */ (globalThis).uPlot)(options, this.data, this.box);
  }

  close() {
    this.resizes.disconnect();
    changes.removeEventListener('change', this.onTheme);
    this.plot?.destroy();
  }
}

/** @param {number} seconds */
function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString([], {hour12: false});
}
