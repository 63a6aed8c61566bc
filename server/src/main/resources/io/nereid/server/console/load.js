// @ts-check
// Load tests: one is started from here, bounded by the operator, and compared with those before.
import {follow, json, post} from './api.js';
import {fill, h, say} from './dom.js';
import {clock, duration, number, plural, rate} from './format.js';
import {link} from './names.js';
import {Plot} from './plots.js';

class Load {
  /** @param {import('./main.js').Context} context */
  constructor({about, signal}) {
    this.limits = about.load_limits;
    this.model = h('input', {name: 'model', required: true, 'aria-describedby': 'names', autocomplete: 'off', spellcheck: false});
    this.names = h('datalist', {id: 'names'});
    this.model.setAttribute('list', 'names');
    this.protocol = h('select', {}, h('option', {value: 'http'}, 'HTTP'), about.protocols.grpc !== null && h('option', {value: 'grpc'}, 'gRPC'));
    this.loop = h('select', {onchange: () => this.#loop()}, h('option', {value: 'closed'}, 'closed: as they are answered'), h('option', {value: 'open'}, 'open: at a rate'));
    this.concurrency = this.#number(8, this.limits.concurrency);
    this.rate = this.#number(100, this.limits.rate_per_s);
    this.seconds = this.#number(10, this.limits.duration_s);
    this.seconds.name = 'seconds';
    this.batch = this.#number(1, 1024);
    this.many = h('label', {}, 'At a time', this.concurrency);
    this.often = h('label', {hidden: true}, 'A second', this.rate);
    this.start = h('button', {className: 'main'}, 'Start');
    this.stop = h('button', {type: 'button', className: 'danger', disabled: true, onclick: () => this.#try('api/load/stop', {})}, 'Stop');
    this.problem = h('p', {className: 'wrong', role: 'alert'});
    this.status = h('p', {className: 'soft', role: 'status'});
    this.bar = h('span');
    this.meter = h('div', {className: 'meter', hidden: true}, this.bar);
    const along = (/** @type {number} */ second) => `${Math.round(second)} s`;
    this.plots = [new Plot('Requests a second', [{name: 'now', ink: 'ink'}], rate, along),
      new Plot('Latency', [{name: 'p99', ink: 'sea', dash: true}, {name: 'p50', ink: 'ink'}], duration, along)];
    this.drawings = h('div', {className: 'plots', hidden: true}, ...this.plots.map(plot => plot.element));
    this.results = h('section', {hidden: true});
    this.said = '';
    signal.addEventListener('abort', () => this.plots.forEach(plot => plot.close()));
  }

  /**
   * @param {number} value
   * @param {number} most
   */
  #number(value, most) {
    return h('input', {type: 'number', min: 1, max: most, value: String(Math.min(value, most)), required: true});
  }

  #loop() {
    this.often.hidden = this.loop.value === 'closed';
    this.many.hidden = !this.often.hidden;
  }

  elements() {
    const {concurrency, rate_per_s: most, duration_s: long} = this.limits;
    return [
      h('div', {className: 'opening'}, h('h1', {}, 'How fast is it?'),
        h('p', {className: 'soft'}, `Random requests from this machine to one model: at most ${concurrency} at a time, ${number(most)} a second, for ${long} s. A test shares the processors with the server.`)),
      h('form', {className: 'bench', onsubmit: (/** @type {Event} */ event) => this.#submit(event)},
        h('label', {}, 'Model', this.model), this.names, h('label', {}, 'Protocol', this.protocol), h('label', {}, 'Loop', this.loop), this.many, this.often,
        h('label', {}, 'Seconds', this.seconds), h('label', {}, 'Batch size', this.batch), h('div', {className: 'row'}, this.start, this.stop)),
      this.problem, this.status, this.meter, this.drawings, this.results,
    ];
  }

  /** @param {Event} event */
  #submit(event) {
    event.preventDefault();
    const closed = this.loop.value === 'closed';
    const loop = closed ? {concurrency: Number(this.concurrency.value)} : {rate_per_s: Number(this.rate.value), poisson: true};
    this.#try('api/load', {model: this.model.value, version: '', protocol: this.protocol.value, duration_s: Number(this.seconds.value), batch_size: Number(this.batch.value), ...loop});
  }

  /**
   * @param {string} path
   * @param {any} body
   */
  async #try(path, body) {
    try {
      await post(path, body);
      say(this.problem, '');
    } catch (e) {
      say(this.problem, /** @type {Error} */ (e).message);
    }
  }

  /**
   * @param {string} event
   * @param {any} value
   */
  take(event, value) {
    if (event !== 'load') return;
    const running = value.state !== 'idle';
    this.start.disabled = running;
    this.stop.disabled = !running;
    this.meter.hidden = !running;
    const shown = value.current ?? value.results[0];
    this.drawings.hidden = !shown;
    if (shown) {
      const {seconds} = shown;
      const times = seconds.map((/** @type {any} */ second) => second.at_ms / 1000);
      const of = (/** @type {string} */ name) => seconds.map((/** @type {any} */ second) => second[name]);
      this.plots[0].show([times, of('requests_per_s')]);
      this.plots[1].show([times, of('p99_us'), of('p50_us')]);
      this.bar.style.width = `${Math.min(100, shown.elapsed_ms / shown.duration_s / 10)}%`;
      say(this.status, `${running ? 'Running' : shown.outcome === 'finished' ? 'Finished' : shown.outcome === 'stopped' ? 'Stopped' : 'Failed'}: ${what(shown)}; ${number(shown.requests)} answered, ${plural(shown.errors, 'error')}.`);
    }
    this.#results(value.results);
  }

  /** @param {any[]} results */
  #results(results) {
    const words = JSON.stringify(results.map(result => result.id + result.outcome));
    this.results.hidden = !results.length;
    if (words === this.said) return;
    this.said = words;
    const most = Math.max(1, ...results.map(result => result.requests_per_s ?? 0));
    fill(this.results, h('h2', {}, 'Compared'),
      h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Compared'}, h('table', {},
        h('thead', {}, h('tr', {}, ...['Model', 'What', 'Requests/s', 'Beside the best', 'p50', 'p90', 'p99', 'Errors', 'At'].map(name => h('th', {scope: 'col', className: ['Requests/s', 'p50', 'p90', 'p99', 'Errors'].includes(name) ? 'num' : ''}, name)))),
        h('tbody', {}, ...results.map(result => {
          const bar = h('span');
          bar.style.width = `${(100 * (result.requests_per_s ?? 0)) / most}%`;
          return h('tr', {}, h('td', {}, link(result.model)),
            h('td', {}, setting(result), result.error && h('div', {className: 'wrong'}, result.error)),
            h('td', {className: 'num'}, rate(result.requests_per_s)), h('td', {className: 'share'}, bar),
            ...['p50_us', 'p90_us', 'p99_us'].map(name => h('td', {className: 'num'}, duration(result[name]))),
            h('td', {className: 'num'}, number(result.errors)), h('td', {className: 'soft'}, clock(result.start_ms)));
        })))));
  }
}

/** @param {any} test */
function setting(test) {
  const loop = test.loop === 'closed' ? `${test.concurrency} at a time` : `${number(test.rate_per_s)} a second`;
  return `${loop}, ${test.protocol === 'grpc' ? 'gRPC' : 'HTTP'}${test.batch_size > 1 ? `, batches of ${test.batch_size}` : ''}, ${test.duration_s} s`;
}

/** @param {any} test */
const what = test => `${test.model}, ${setting(test)}`;

/** @param {import('./main.js').Context} context */
export async function show(context) {
  const {root, about, signal, pulse} = context;
  if (!about.load_allowed) {
    fill(root, h('div', {className: 'opening'}, h('h1', {}, 'How fast is it?'),
      h('p', {}, 'Whoever runs this server allows load tests with ', h('code', {}, '--allow-console-load'), '. From a shell, ', h('code', {}, 'nereid perf MODEL'), ' does the same.')));
    return;
  }
  const load = new Load(context);
  fill(root, ...load.elements());
  follow('api/load/events', signal, (event, value) => load.take(event, value), pulse);
  const {models} = await json('/v2/models', {signal});
  load.names.append(...models.map((/** @type {string} */ name) => h('option', {value: name})));
  if (!load.model.value) load.model.value = models[0] ?? '';
}
