// @ts-check
// An answer as people see it: classes as bars, images as images, text as text, and numbers.
import {h} from './dom.js';
import {number, percent} from './format.js';
import {layout, toCanvas} from './picture.js';

const MOST_VALUES = 512;
const MOST_BARS = 12;

/**
 * @typedef {{name: string, datatype: string, shape: number[], data: any[]}} Output
 */

/**
 * @param {Output} output
 * @param {string[]} labels its classes, where there are any
 * @returns {Node[]}
 */
export function view(output, labels) {
  const {name, datatype, shape} = output;
  const title = h('h3', {}, h('bdi', {className: 'mono'}, name), h('span', {}, `  ${datatype} [${shape.join(', ')}]`));
  return [title, ...content({...output, data: output.data?.flat(Infinity) ?? []}, labels)];
}

/**
 * @param {Output} output
 * @param {string[]} labels
 * @returns {Node[]}
 */
function content({datatype, shape, data}, labels) {
  if (!data.length) return [h('p', {className: 'soft'}, 'nothing')];
  if (datatype === 'BYTES') return data.slice(0, MOST_VALUES).map(text => h('div', {className: 'text'}, String(text)));
  if (areClasses(data, labels)) return classes(data.map(Number), labels);
  const form = layout(shape.filter((dim, i) => dim !== 1 || i >= shape.length - 1));
  if (form && form.rows * form.columns * form.channels === data.length) return [toCanvas(data, form)];
  return values(data);
}

/**
 * Whether these are scores of classes: they have labels, or add up to one.
 *
 * @param {any[]} data
 * @param {string[]} labels
 */
export function areClasses(data, labels) {
  if (labels.length > 1 && labels.length === data.length) return true;
  if (data.length < 3 || data.length > 1000 || data.some(value => typeof value !== 'number' || value < 0)) return false;
  return Math.abs(data.reduce((sum, value) => sum + value, 0) - 1) < 1e-3;
}

/**
 * @param {number[]} scores
 * @param {string[]} labels
 */
function classes(scores, labels) {
  const best = scores.reduce((top, score, i) => (score > scores[top] ? i : top), 0);
  const shares = scores.every(score => score >= 0 && score <= 1.0001);
  const low = shares ? 0 : Math.min(0, ...scores);
  const high = shares ? 1 : Math.max(...scores);
  const shown = scores.map((_, i) => i);
  // A few stay in their order, so that they hold still while one draws.
  if (scores.length > MOST_BARS) shown.sort((a, b) => scores[b] - scores[a]).length = MOST_BARS;
  const name = (/** @type {number} */ i) => labels[i] || String(i);
  const word = (/** @type {number} */ i) => (shares ? percent(Math.round(scores[i] * 1000) / 1000) : number(scores[i]));
  return [
    h('p', {className: 'verdict', 'data-best': String(best)}, h('bdi', {}, name(best))),
    h('dl', {className: 'bars'}, ...shown.flatMap(i => {
      const bar = h('span');
      bar.style.width = `${(100 * (scores[i] - low)) / (high - low || 1)}%`;
      const mark = i === best ? ' best' : '';
      return [h('dt', {className: mark}, h('bdi', {}, name(i))), h('dd', {className: 'bar' + mark}, bar), h('dd', {className: 'num' + mark}, word(i))];
    })),
  ];
}

/** @param {any[]} data */
function values(data) {
  const shown = data.slice(0, MOST_VALUES).map(value => h('span', {}, typeof value === 'number' ? String(Math.round(value * 1e6) / 1e6) : String(value)));
  return [
    h('div', {className: 'values', tabIndex: 0, role: 'region', 'aria-label': 'Values'}, ...shown),
    ...(data.length > MOST_VALUES ? [h('p', {className: 'soft'}, `and ${data.length - MOST_VALUES} more`)] : []),
  ];
}
