// @ts-check
// A heat map of latencies: a column for each second, a row for each range, darker where more answers were.
import {colour, h} from './dom.js';
import {duration} from './format.js';
import {changes} from './theme.js';

const LEFT = 62;
const BOTTOM = 20;
const COLUMNS = 180;

export class Heat {
  constructor() {
    /** @type {number[][]} */
    this.seconds = [];
    /** @type {number[]} */
    this.bounds = [];
    this.canvas = h('canvas', {role: 'img', 'aria-label': 'Latencies'});
    this.box = h('div', {className: 'canvas'}, this.canvas);
    this.element = h('figure', {className: 'plot'},
      h('h2', {}, 'How latencies spread'),
      h('ul', {className: 'key'}, h('li', {className: 'sea'}, h('i', {className: 'fill'}), 'more answers, the stronger')),
      this.box);
    this.resizes = new ResizeObserver(() => this.draw());
    this.resizes.observe(this.box);
    this.onTheme = () => this.draw();
    changes.addEventListener('change', this.onTheme);
  }

  /** @param {{bounds_us: number[], counts: number[]}} heat */
  add(heat) {
    this.bounds = heat.bounds_us;
    this.seconds.push(heat.counts);
    if (this.seconds.length > COLUMNS) this.seconds.shift();
    this.draw();
  }

  /** The ranges that anything was in, with one to spare on each side. */
  #range() {
    const used = this.seconds.flatMap(counts => counts.flatMap((count, i) => (count ? [i] : [])));
    if (!used.length) return [0, 0];
    return [Math.max(0, Math.min(...used) - 1), Math.min(this.bounds.length, Math.max(...used) + 1)];
  }

  draw() {
    const {clientWidth: width, clientHeight: height} = this.box;
    if (!width) return;
    const scale = devicePixelRatio;
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    this.canvas.style.width = width + 'px';
    this.canvas.style.height = height + 'px';
    const pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
    pen.scale(scale, scale);
    pen.font = '12px sans-serif';
    const [low, high] = this.#range();
    if (low === high) {
      pen.fillStyle = colour('soft');
      pen.fillText('no answers yet', LEFT, height / 2);
      return;
    }
    const row = (height - BOTTOM - 8) / (high - low + 1);
    const column = (width - LEFT - 6) / COLUMNS;
    const most = Math.max(...this.seconds.flat());
    const top = (/** @type {number} */ range) => 8 + (high - range) * row;
    pen.fillStyle = colour('sea');
    this.seconds.forEach((counts, i) => {
      const x = LEFT + (COLUMNS - this.seconds.length + i) * column;
      for (let range = low; range <= high; range++) {
        if (!counts[range]) continue;
        // The root shows the few slow ones, too, which matter most.
        pen.globalAlpha = 0.12 + 0.88 * Math.sqrt(counts[range] / most);
        pen.fillRect(x, top(range), column + 0.4, row + 0.4);
      }
    });
    this.#axes(pen, low, high, row, top);
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {number} low
   * @param {number} high
   * @param {number} row
   * @param {(range: number) => number} top
   */
  #axes(pen, low, high, row, top) {
    const {clientWidth: width, clientHeight: height} = this.box;
    pen.globalAlpha = 1;
    pen.fillStyle = colour('soft');
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    const step = Math.max(1, Math.ceil(22 / row));
    for (let range = low; range <= Math.min(high, this.bounds.length - 1); range += step) {
      pen.fillText(duration(this.bounds[range]), LEFT - 8, top(range));
    }
    pen.textBaseline = 'alphabetic';
    pen.fillText('now', width - 6, height - 4);
    pen.textAlign = 'left';
    pen.fillText('3 min ago', LEFT, height - 4);
    pen.strokeStyle = colour('line');
    pen.strokeRect(LEFT, height - BOTTOM + 0.5, width - LEFT - 6, 0);
  }

  close() {
    this.resizes.disconnect();
    changes.removeEventListener('change', this.onTheme);
  }
}
