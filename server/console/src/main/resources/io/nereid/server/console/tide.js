// @ts-check
// The waterline: requests answered rise above it, requests that wait hang below, errors are marked on it.
import {h, say, svg} from './dom.js';
import {number, plural} from './format.js';

/** How many intervals are shown. */
export const SPAN = 180;

/** Where the line lies, from the top. */
const LEVEL = 66;

/**
 * @param {(number | null)[]} values
 * @param {number} scale from a value to the height of the drawing, 100; negative draws downwards
 */
function path(values, scale) {
  const first = SPAN - values.length;
  return values.map((value, i) => `${i ? 'L' : 'M'}${first + i} ${(LEVEL - (value ?? 0) * scale).toFixed(1)}`).join('');
}

/**
 * @param {(number | null)[]} values
 * @param {number} scale
 */
function area(values, scale) {
  if (!values.length) return '';
  return `${path(values, scale)}L${SPAN - 1} ${LEVEL}L${SPAN - values.length} ${LEVEL}Z`;
}

/**
 * @typedef {{requests_per_s: (number | null)[], pending: (number | null)[], errors_per_s: (number | null)[]}} History
 */

/** A drawing that can be given new values. */
export class Tide {
  /**
   * @param {boolean} small without words around it
   * @param {string} subject whose requests these are
   */
  constructor(small, subject) {
    this.subject = subject;
    this.glint = svg('path', {class: 'glint'});
    this.above = svg('path', {class: 'above'});
    this.below = svg('path', {class: 'below'});
    this.errors = svg('path', {class: 'errors'});
    const level = svg('line', {class: 'level', x1: 0, x2: SPAN - 1, y1: LEVEL, y2: LEVEL});
    this.drawing = svg(
      'svg',
      {viewBox: `0 0 ${SPAN - 1} 100`, preserveAspectRatio: 'none', role: 'img', 'aria-label': subject},
      this.glint, this.below, level, this.above, this.errors
    );
    this.top = h('span');
    this.bottom = h('span');
    const caption = h('figcaption', {}, this.top, this.bottom);
    this.element = h('figure', {className: small ? 'tide small' : 'tide'}, this.drawing, small ? null : caption);
  }

  /** @param {History} history */
  show(history) {
    const most = Math.max(1, ...history.requests_per_s.map(value => value ?? 0));
    const deepest = Math.max(4, ...history.pending.map(value => value ?? 0));
    const up = (LEVEL - 3) / most;
    this.glint.setAttribute('d', area(history.requests_per_s, up));
    this.above.setAttribute('d', path(history.requests_per_s, up));
    this.below.setAttribute('d', area(history.pending, (LEVEL - 100) / deepest));
    const first = SPAN - history.errors_per_s.length;
    const marks = history.errors_per_s.flatMap((value, i) => (value ? [`M${first + i} ${LEVEL - 5}V${LEVEL + 5}`] : []));
    this.errors.setAttribute('d', marks.join(''));
    const now = history.requests_per_s.at(-1) ?? 0;
    const waiting = history.pending.at(-1) ?? 0;
    this.drawing.setAttribute('aria-label', `${this.subject}: ${number(now)} requests a second, ${number(waiting)} waiting`);
    say(this.top, `above the line, answered: at most ${number(most)} a second`);
    say(this.bottom, deepest > 4 || waiting ? `below, waiting: at most ${plural(deepest, 'request')}` : 'below, waiting: none to speak of');
  }
}

/**
 * Adds an interval to a history, and forgets the oldest.
 *
 * @param {Record<string, (number | null)[]>} history
 * @param {Record<string, any>} event
 */
export function extend(history, event) {
  for (const [name, values] of Object.entries(history)) {
    values.push(event[name] ?? null);
    if (values.length > SPAN) values.splice(0, values.length - SPAN);
  }
}
