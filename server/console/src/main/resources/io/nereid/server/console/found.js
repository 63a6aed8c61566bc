// @ts-check
// What a model found in a picture, drawn over it: boxes, masks, or its first five classes.
import {h} from './dom.js';
import {percent} from './format.js';
import {areClasses} from './reply.js';

const LEAST_SCORE = 0.25;
const MOST_OVERLAP = 0.45;
const MOST_BOXES = 50;
const WIDEST = 640;

/**
 * @typedef {import('./reply.js').Output} Output
 * @typedef {{left: number, top: number, right: number, bottom: number, score: number, kind: number}} Box in pixels of the input
 * @typedef {{rows: number, columns: number}} Size of the input
 */

/** @param {number[]} shape without dimensions of one before the others */
function squeezed(shape) {
  const first = shape.findIndex(dim => dim !== 1);
  return first < 0 ? [] : shape.slice(first);
}

/** The class with the highest score. @param {ArrayLike<any>} scores */
function best(scores) {
  let top = 0;
  for (let i = 1; i < scores.length; i++) if (scores[i] > scores[top]) top = i;
  return top;
}

/**
 * A box from its corners, or from its middle and size.
 *
 * @param {number[]} four
 * @param {boolean} middle
 * @param {number} score
 * @param {number} kind
 * @returns {Box}
 */
function box([a, b, c, d], middle, score, kind) {
  return middle ? {left: a - c / 2, top: b - d / 2, right: a + c / 2, bottom: b + d / 2, score, kind} : {left: a, top: b, right: c, bottom: d, score, kind};
}

/**
 * The boxes of outputs for boxes, scores and, often, classes.
 *
 * @param {Output[]} outputs
 * @returns {Box[]}
 */
function apart(outputs) {
  const places = outputs.find(output => squeezed([0, ...output.shape]).at(-1) === 4 && /box/i.test(output.name));
  if (!places) return [];
  const count = places.data.length / 4;
  const scores = outputs.find(output => output !== places && /score|conf|prob|logit/i.test(output.name) && output.data.length && output.data.length % count === 0);
  const kinds = outputs.find(output => output !== places && /label|class/i.test(output.name) && output.data.length === count);
  if (!scores) return [];
  const each = scores.data.length / count;
  const fours = Array.from({length: count}, (_, i) => places.data.slice(4 * i, 4 * i + 4).map(Number));
  const middle = fours.some(([a, b, c, d]) => c < a || d < b);
  const upright = places.name.startsWith('detection_'); // TensorFlow has y before x
  return fours.map((four, i) => {
    const own = scores.data.slice(each * i, each * (i + 1)).map(Number);
    const kind = kinds ? Number(kinds.data[i]) : best(own);
    return box(upright ? [four[1], four[0], four[3], four[2]] : four, middle, own[kinds ? 0 : kind], kind);
  });
}

/**
 * The boxes of one output that has all of them: six numbers each where the model sorted them out, a
 * column or a row of place and classes where it did not.
 *
 * @param {Output} output
 * @returns {Box[]}
 */
function together({shape, data}) {
  const [rows, columns] = squeezed(shape).length === 2 ? squeezed(shape) : [1, shape.at(-1) ?? 0];
  if (rows * columns !== data.length) return [];
  /** Reads boxes of which each has its numbers a step apart. */
  const read = (/** @type {number} */ count, /** @type {number} */ between, /** @type {number} */ step, /** @type {number} */ numbers) =>
    Array.from({length: count}, (_, i) => Array.from({length: numbers}, (__, k) => Number(data[i * between + k * step])));
  if (columns === 6 && rows <= 1000) return read(rows, 6, 1, 6).map(([a, b, c, d, score, kind]) => box([a, b, c, d], false, score, kind));
  const turned = columns > 2 * rows; // a column for each box, without a score of its own
  if (Math.max(rows, columns) < 100 || Math.min(rows, columns) < (turned ? 5 : 6)) return [];
  const all = turned ? read(columns, 1, columns, rows) : read(rows, columns, 1, columns);
  return all.map(numbers => {
    const scores = numbers.slice(turned ? 4 : 5);
    const kind = best(scores);
    return box(numbers, true, scores[kind] * (turned ? 1 : numbers[4]), kind);
  });
}

/**
 * How much of two boxes is in both.
 *
 * @param {Box} a
 * @param {Box} b
 */
function overlap(a, b) {
  const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  if (wide <= 0 || high <= 0) return 0;
  const area = (/** @type {Box} */ one) => (one.right - one.left) * (one.bottom - one.top);
  return (wide * high) / (area(a) + area(b) - wide * high);
}

/**
 * The boxes that a model is sure enough of, the best of those that lie over each other.
 *
 * @param {Output[]} outputs
 * @param {Size} size
 */
export function boxes(outputs, size) {
  const all = apart(outputs);
  if (!all.length && outputs.length === 1) all.push(...together(outputs[0]));
  const sure = all.filter(one => one.score >= LEAST_SCORE && one.right > one.left && one.bottom > one.top).sort((a, b) => b.score - a.score);
  if (sure.some(one => one.score > 1.001)) return [];
  /** @type {Box[]} */
  const kept = [];
  for (const one of sure) {
    if (kept.length === MOST_BOXES) break;
    if (!kept.some(other => other.kind === one.kind && overlap(other, one) > MOST_OVERLAP)) kept.push(one);
  }
  const parts = kept.every(one => Math.max(one.right, one.bottom) <= 1.5);
  return parts ? kept.map(one => ({...one, left: one.left * size.columns, right: one.right * size.columns, top: one.top * size.rows, bottom: one.bottom * size.rows})) : kept;
}

/**
 * The class of each pixel, 0 for none; null where an output is no mask of the picture.
 *
 * @param {Output} output
 * @param {Size} size
 * @returns {{kinds: number[], rows: number, columns: number} | null}
 */
export function mask({name, shape, data, datatype}, size) {
  const [planes, rows, columns] = [1, 1, ...squeezed(shape)].slice(-3);
  if (rows < 8 || Math.abs(rows * size.columns - columns * size.rows) > 0.02 * rows * size.columns || planes === 3) return null;
  const pixels = rows * columns;
  if (data.length !== planes * pixels) return null;
  if (planes > 1) return {kinds: Array.from({length: pixels}, (_, i) => best(Array.from({length: planes}, (_, k) => data[k * pixels + i]))), rows, columns};
  if (/INT|BOOL/.test(datatype)) return {kinds: data.map(Number), rows, columns};
  if (!/mask|seg|area|alpha/i.test(name)) return null; // a grey picture
  const shares = data.every(value => value >= 0 && value <= 1);
  return {kinds: data.map(value => Number(value > (shares ? 0.5 : 0))), rows, columns};
}

/** A colour for a class on which white letters can be read. @param {number} kind */
const tint = kind => `hsl(${(190 + 137 * kind) % 360} 75% 30%)`;

/**
 * The picture with what was found; nothing where the outputs are none of that.
 *
 * @param {HTMLCanvasElement} canvas the picture
 * @param {Output[]} outputs with flat data
 * @param {Map<string, string[]>} labels
 * @param {Size} size
 * @returns {Node[]}
 */
export function over(canvas, outputs, labels, size) {
  const names = [...labels.values()].find(some => some.length > 1) ?? [];
  const name = (/** @type {number} */ kind) => names[kind] || `class ${kind}`;
  const found = boxes(outputs, size);
  /** @type {string[]} */
  let words = [];
  if (found.length) {
    words = found.map(one => `${name(one.kind)} ${percent(one.score)}`);
    frame(canvas, found, words, size);
  } else {
    const area = outputs.map(output => mask(output, size)).find(each => each !== null);
    const scores = outputs.find(output => areClasses(output.data, labels.get(output.name) ?? []) && output.data.length > 2);
    if (area) words = colourIn(canvas, area).map(([kind, share]) => `${name(kind)} ${percent(share)} of the picture`);
    else if (scores) words = firstFive(scores, labels.get(scores.name) ?? []);
  }
  if (!words.length) return [];
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', 'The picture with what was found: ' + words.join(', '));
  return [h('figure', {className: 'found'}, canvas, h('figcaption', {}, h('ol', {}, ...words.map(text => h('li', {}, text)))))];
}

/**
 * @param {Output} scores
 * @param {string[]} labels
 */
function firstFive({data}, labels) {
  const values = data.map(Number);
  const shares = values.every(value => value >= 0 && value <= 1.0001);
  const order = values.map((_, i) => i).sort((a, b) => values[b] - values[a]).slice(0, 5);
  return order.map(i => `${labels[i] || `class ${i}`} ${shares ? percent(Math.round(values[i] * 1000) / 1000) : values[i].toFixed(2)}`);
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Box[]} found
 * @param {string[]} words
 * @param {Size} size
 */
function frame(canvas, found, words, size) {
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const [wide, high] = [canvas.width / size.columns, canvas.height / size.rows];
  pen.font = '600 14px sans-serif';
  pen.textBaseline = 'top';
  pen.lineWidth = 3;
  found.forEach((one, i) => {
    const [left, top] = [one.left * wide, one.top * high];
    pen.strokeStyle = pen.fillStyle = tint(one.kind);
    pen.strokeRect(left, top, (one.right - one.left) * wide, (one.bottom - one.top) * high);
    const [x, y] = [Math.max(0, left - 1.5), Math.max(0, top - 20)];
    pen.fillRect(x, y, pen.measureText(words[i]).width + 10, 20);
    pen.fillStyle = '#fff';
    pen.fillText(words[i], x + 5, y + 3);
  });
}

/**
 * Lays colours over the picture; returns the classes and their shares of it, the largest first.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {{kinds: number[], rows: number, columns: number}} area
 */
function colourIn(canvas, {kinds, rows, columns}) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  kinds.forEach(kind => kind > 0 && counts.set(kind, (counts.get(kind) ?? 0) + 1));
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const [wide, high] = [canvas.width / columns, canvas.height / rows];
  pen.globalAlpha = 0.55;
  for (const kind of counts.keys()) {
    pen.fillStyle = tint(kind);
    for (let i = 0; i < kinds.length; i++) {
      if (kinds[i] !== kind) continue;
      const start = i;
      while (kinds[i + 1] === kind && (i + 1) % columns) i++;
      pen.fillRect((start % columns) * wide, Math.floor(start / columns) * high, (i + 1 - start) * wide, high);
    }
  }
  pen.globalAlpha = 1;
  return [...counts].sort((a, b) => b[1] - a[1]).map(([kind, count]) => /** @type {[number, number]} */ ([kind, count / kinds.length]));
}

/**
 * A picture as it is, at most so wide.
 *
 * @param {Blob} file
 */
export async function picture(file) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, WIDEST / bitmap.width) * Math.max(1, Math.min(4, 256 / bitmap.width));
  const canvas = h('canvas', {width: Math.max(1, Math.round(bitmap.width * scale)), height: Math.max(1, Math.round(bitmap.height * scale))});
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas;
}
