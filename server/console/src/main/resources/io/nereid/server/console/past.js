// @ts-check
// The last hour, which the server keeps whether anybody looks or not, and what happened in it.
import {json} from './api.js';
import {fill, h, say} from './dom.js';
import {clock, duration} from './format.js';
import {link} from './names.js';
import {Tide} from './tide.js';

/** The server looks at its models this often. */
const STEP_MS = 10_000;

/** The most events that are listed. */
const LISTED = 20;

/** A drawing of what was kept, and a list of what happened. */
export class Past {
  /**
   * @param {string} path where it is asked for
   * @param {string} subject whose requests these are
   */
  constructor(path, subject) {
    this.path = path;
    this.title = h('h2', {}, 'The last hour');
    this.tide = new Tide(false, `${subject}, the last hour`);
    this.marks = h('ul', {className: 'marks', 'aria-label': 'What happened'});
    this.element = h('section', {}, this.title, this.tide.element, this.marks);
    this.said = '';
  }

  /** Asks until the page is left, while somebody sees it. @param {AbortSignal} signal */
  async follow(signal) {
    while (!signal.aborted) {
      try {
        if (!document.hidden) this.#show(await json(this.path, {signal}));
      } catch {
        if (signal.aborted) return; // the stream of the page says what is wrong
      }
      await new Promise(done => setTimeout(done, STEP_MS));
    }
  }

  /** @param {any} value */
  #show(value) {
    say(this.title, value.kept_s === 3600 ? 'The last hour' : `The last ${duration(value.kept_s * 1e6)}`);
    this.tide.show(value.history);
    const words = JSON.stringify(value.marks);
    if (words === this.said) return;
    this.said = words;
    fill(this.marks, ...value.marks.slice(-LISTED).reverse().map((/** @type {any} */ mark) =>
      h('li', {}, h('span', {className: 'num'}, clock(mark.time_ms)), ' ',
        ...(mark.model ? [link(mark.model), mark.version && ` version ${mark.version}`, ` ${mark.what}`] : [`The server ${mark.what}`]),
        mark.reason && h('span', {className: 'wrong'}, `: ${mark.reason.split('\n')[0]}`))));
  }
}
