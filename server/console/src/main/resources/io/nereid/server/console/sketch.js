// @ts-check
// A sheet to draw on. What is drawn is cut, centred and scaled as images of handwriting are, whatever its size.
import {colour, h} from './dom.js';
import {changes} from './theme.js';

const SIZE = 232;

/** How finely a pixel of the result is looked at. */
const FINE = 8;

/** The width of a line as a part of the drawing's height: with it a drawn digit has as much ink as those of the data. */
const PEN = 0.15;

/** What a key does to the pen. @type {Record<string, [number, number]>} */
const MOVES = {ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0]};

/** @typedef {{x: number, y: number}} Point in parts of the sheet */

export class Sketch {
  /**
   * @param {number} rows
   * @param {number} columns
   * @param {(ink: number[]) => void} changed gets the ink of each pixel, 0 to 1
   */
  constructor(rows, columns, changed) {
    this.rows = rows;
    this.columns = columns;
    this.changed = changed;
    /** @type {Point[][]} */
    this.strokes = [];
    this.pen = {x: 0.5, y: 0.2};
    this.down = false;
    this.sheet = h('canvas', {
      width: SIZE, height: SIZE, tabIndex: 0, role: 'application', className: 'sheet',
      'aria-label': 'A sheet to draw on: arrows move the pen, space puts it down or lifts it',
      onpointerdown: (/** @type {PointerEvent} */ event) => this.#begin(event),
      onpointermove: (/** @type {PointerEvent} */ event) => this.#move(event),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
      onblur: () => this.#draw(),
    });
    this.seen = h('canvas', {width: columns, height: rows, role: 'img', 'aria-label': 'What the model sees'});
    this.hint = h('p', {}, 'draw here');
    this.element = h('div', {className: 'sketch'}, h('div', {className: 'paper'}, this.sheet, this.hint),
      h('div', {className: 'small'}, h('p', {className: 'soft'}, 'What it sees'), this.seen,
        h('p', {}, h('button', {type: 'button', onclick: () => this.clear()}, 'Wipe'))));
    changes.addEventListener('change', () => this.#draw());
    this.#draw();
  }

  clear() {
    this.strokes = [];
    this.#update();
  }

  /**
   * @param {PointerEvent} event
   * @returns {Point}
   */
  #at(event) {
    const box = this.sheet.getBoundingClientRect();
    return {x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height};
  }

  /** @param {PointerEvent} event */
  #begin(event) {
    this.sheet.setPointerCapture(event.pointerId);
    this.strokes.push([this.#at(event)]);
    this.#update();
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (!(event.buttons & 1) || !this.sheet.hasPointerCapture(event.pointerId)) return;
    const events = event.getCoalescedEvents?.() ?? [];
    this.strokes.at(-1)?.push(...(events.length ? events : [event]).map(each => this.#at(each)));
    this.#update();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const move = MOVES[event.key];
    if (event.key === ' ') {
      this.down = !this.down;
      if (this.down) this.strokes.push([{...this.pen}]);
    } else if (move) {
      this.pen = {x: within(this.pen.x + move[0] * 0.05), y: within(this.pen.y + move[1] * 0.05)};
      if (this.down) this.strokes.at(-1)?.push({...this.pen});
    } else {
      return;
    }
    event.preventDefault();
    this.#update();
  }

  /** Shows what the model sees of something that was not drawn. @param {number[]} ink */
  show(ink) {
    this.strokes = [];
    this.#draw();
    this.#see(ink);
  }

  #update() {
    this.#draw();
    const ink = this.#ink();
    this.#see(ink);
    this.changed(ink);
  }

  /** @param {number[]} ink */
  #see(ink) {
    const pen = /** @type {CanvasRenderingContext2D} */ (this.seen.getContext('2d'));
    const image = pen.createImageData(this.columns, this.rows);
    ink.forEach((value, i) => {
      image.data.fill(Math.round(255 * (1 - value)), 4 * i, 4 * i + 3);
      image.data[4 * i + 3] = 255;
    });
    pen.putImageData(image, 0, 0);
  }

  #draw() {
    const pen = /** @type {CanvasRenderingContext2D} */ (this.sheet.getContext('2d'));
    pen.clearRect(0, 0, SIZE, SIZE);
    this.hint.hidden = this.strokes.length > 0;
    trace(pen, this.strokes, point => ({x: point.x * SIZE, y: point.y * SIZE}), SIZE * 0.075, colour('ink'));
    if (document.activeElement !== this.sheet || !this.sheet.matches(':focus-visible')) return;
    pen.strokeStyle = colour('sea');
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(this.pen.x * SIZE, this.pen.y * SIZE, this.down ? 5 : 9, 0, 7);
    pen.stroke();
  }

  /** The drawing fitted to the pixels, its longer side over all of them. */
  #ink() {
    const points = this.strokes.flat();
    if (!points.length) return new Array(this.rows * this.columns).fill(0);
    const [left, right] = [Math.min(...points.map(p => p.x)), Math.max(...points.map(p => p.x))];
    const [top, bottom] = [Math.min(...points.map(p => p.y)), Math.max(...points.map(p => p.y))];
    const width = this.columns * FINE;
    const height = this.rows * FINE;
    const pen = PEN * height;
    const scale = Math.min((width - pen) / Math.max(right - left, 1e-3), (height - pen) / Math.max(bottom - top, 1e-3), 12 * height);
    const canvas = new OffscreenCanvas(width, height);
    const context = /** @type {any} */ (canvas.getContext('2d', {willReadFrequently: true}));
    trace(context, this.strokes, point => ({
      x: width / 2 + (point.x - (left + right) / 2) * scale,
      y: height / 2 + (point.y - (top + bottom) / 2) * scale,
    }), pen, '#000');
    return shrink(context.getImageData(0, 0, width, height).data, this.rows, this.columns);
  }
}

/** @param {number} value */
const within = value => Math.min(0.97, Math.max(0.03, value));

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Point[][]} strokes
 * @param {(point: Point) => Point} place
 * @param {number} width
 * @param {string} ink
 */
function trace(pen, strokes, place, width, ink) {
  pen.strokeStyle = ink;
  pen.lineWidth = width;
  pen.lineCap = pen.lineJoin = 'round';
  for (const stroke of strokes) {
    pen.beginPath();
    stroke.map(place).forEach((point, i) => (i ? pen.lineTo(point.x, point.y) : pen.moveTo(point.x, point.y + 0.01)));
    const start = place(stroke[0]);
    if (stroke.length === 1) pen.lineTo(start.x, start.y);
    pen.stroke();
  }
}

/**
 * The mean ink of each pixel.
 *
 * @param {Uint8ClampedArray} data with an alpha
 * @param {number} rows
 * @param {number} columns
 */
function shrink(data, rows, columns) {
  const ink = new Array(rows * columns).fill(0);
  for (let y = 0; y < rows * FINE; y++) {
    for (let x = 0; x < columns * FINE; x++) {
      ink[Math.floor(y / FINE) * columns + Math.floor(x / FINE)] += data[4 * (y * columns * FINE + x) + 3];
    }
  }
  return ink.map(sum => sum / (255 * FINE * FINE));
}
