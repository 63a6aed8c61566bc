// @ts-check
// What a model's objective has it do, and what was learned for it.
import {fill, h} from './dom.js';
import {duration, NONE, number, percent, plural} from './format.js';

/** How instances are called in what was learned. @param {number} kind */
const device = kind => (kind === 0 ? 'processor' : `GPU ${kind - 1}`);

/** The section about it; hidden for a model without an objective. */
export class Objective {
  constructor() {
    this.title = h('h2');
    this.facts = h('dl', {className: 'facts'});
    this.costs = h('tbody');
    this.element = h('section', {hidden: true}, this.title, this.facts,
      h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'What executions take'}, h('table', {},
        h('thead', {}, h('tr', {}, ...['Rows', 'take', 'one of 100 more than', 'on', 'elements of a row'].map((name, i) =>
          h('th', {scope: 'col', className: i === 3 ? '' : 'num'}, name)))),
        this.costs)));
  }

  /** @param {any} objective of an event; null: there is none */
  show(objective) {
    this.element.hidden = !objective;
    if (!objective) return;
    const {refused} = objective;
    const answered = objective.kept + objective.late;
    fill(this.title, `Objective ${objective.objective}`);
    const facts = [
      ['In time', answered ? `${number(objective.kept)}, ${percent(objective.kept / answered)} of the answers` : NONE],
      ['Late', number(objective.late)],
      ['Refused, too much waits', number(refused.backlog)],
      ['Refused, too long alone', number(refused.cost)],
      ['Refused while they waited', number(refused.waiting)],
      ['Refused for their own deadline', number(objective.refused_deadline)],
      ['Now at once, at most', plural(objective.max_rows, 'row')],
      ['Now waits for others, at most', duration(objective.max_wait_us)],
      ['What waits and runs takes', duration(objective.backlog_us)],
      ['Kept free for the way outside', duration(objective.outside_us)],
      ['In time, at most', objective.rows_per_s ? `${number(objective.rows_per_s)} rows a second` : NONE],
    ];
    fill(this.facts, ...facts.map(([name, text]) => h('div', {}, h('dt', {}, name), h('dd', {}, text))));
    fill(this.costs, ...objective.costs.map((/** @type {any} */ cost) => h('tr', {},
      h('th', {scope: 'row', className: 'num'}, String(cost.rows)),
      h('td', {className: 'num'}, duration(cost.mean_us)),
      h('td', {className: 'num'}, duration(cost.high_us)),
      h('td', {}, device(cost.kind)),
      h('td', {className: 'num'}, cost.row_elements ? number(cost.row_elements) : NONE))));
  }
}
