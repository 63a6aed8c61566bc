// @ts-check
// A form for a model's inputs, its answers, and the same request in other languages.
import {ask, modelPath, usesToken} from './api.js';
import {copyable} from './copy.js';
import {fill, h, say} from './dom.js';
import {eventsOf} from './events.js';
import {Field} from './field.js';
import {bytes, duration, plural} from './format.js';
import {over, picture} from './found.js';
import {address as addressOf, modelHead, stateWord} from './names.js';
import {near} from './near.js';
import {view} from './reply.js';
import {samples} from './samples.js';
import {decode, encode, jsonData, wanted, wantsBytes} from './tensor.js';

/** Longer links are cut by what they are sent with. */
const LONGEST_LINK = 8000;

class Trial {
  /**
   * @param {import('./main.js').Context} context
   */
  constructor({place, about, signal, model}) {
    this.model = model;
    this.version = place.version ?? '';
    this.grpc = {grpc: about.protocols.grpc, secure: about.protocols.grpc_tls};
    this.signal = signal;
    this.batched = model.max_batch_size > 0;
    /** @type {Field[]} */
    this.fields = model.inputs.map((/** @type {any} */ input) => new Field(input, this.batched, () => this.#live()));
    // Of inputs that may all be left out most models want one.
    if (this.fields.every(field => field.slot.optional)) this.fields[0]?.use();
    this.streams = h('input', {type: 'checkbox', checked: model.decoupled, disabled: model.decoupled, onchange: () => this.#show()});
    this.button = h('button', {className: 'main', id: 'send'}, 'Send');
    this.status = h('span', {className: 'soft', role: 'status'});
    this.reply = h('div', {className: 'reply', 'aria-live': 'polite'}, h('p', {className: 'soft'}, 'Nothing was sent yet.'));
    this.samples = h('div');
    this.language = 'curl';
    this.sequence = h('input', {type: 'number', min: 1, value: String(1 + Math.floor(Math.random() * 1e6)), 'aria-label': 'Id of the sequence'});
    this.start = h('input', {type: 'checkbox', checked: true});
    this.end = h('input', {type: 'checkbox'});
    this.form = h('form', {onsubmit: (/** @type {Event} */ event) => this.#submit(event), oninput: () => this.#show(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.#keys(event)},
      ...this.fields.map(field => field.element), this.#sequence(),
      h('div', {className: 'row'}, this.button, h('label', {}, this.streams, 'answers one by one, as they come'), this.status));
    if (place.inputs) this.#begin(place.inputs);
    this.#show();
  }

  /** Fills the form as a link has it. @param {string} inputs */
  #begin(inputs) {
    try {
      this.take(JSON.parse(inputs));
    } catch (e) {
      say(this.status, `What the link has is no inputs: ${/** @type {Error} */ (e).message}`);
    }
  }

  /** Fills the form. @param {{name: string, shape?: number[], data: any}[]} inputs as the protocol has them */
  take(inputs) {
    for (const field of this.fields) field.take(inputs.find(input => input.name === field.slot.name));
    this.#show();
  }

  /** The examples that lie beside the model in the repository. */
  #examples() {
    if (!this.model.examples) return null;
    try {
      const examples = JSON.parse(this.model.examples);
      if (!Array.isArray(examples)) throw new Error(examples.error ?? 'expected a list');
      return h('p', {className: 'row examples'}, h('span', {className: 'soft'}, 'Examples'), ...examples.map(({name, inputs}) => h('button', {type: 'button', onclick: () => {
        this.take(inputs);
        this.#live();
      }}, name)));
    } catch (e) {
      return h('p', {className: 'wrong'}, 'examples.json: ' + /** @type {Error} */ (e).message);
    }
  }

  #sequence() {
    if (!this.model.stateful) return null;
    return h('div', {className: 'field row'}, h('label', {}, 'Sequence', this.sequence), h('label', {}, this.start, 'starts with this'), h('label', {}, this.end, 'ends with this'));
  }

  elements() {
    return h('div', {className: 'try'},
      h('section', {}, h('h2', {}, 'What goes in'), this.#examples(), this.form),
      h('section', {}, h('h2', {}, 'What comes out'), this.reply, h('section', {}, h('h2', {}, 'The same request'), this.samples)));
  }

  #parameters() {
    if (!this.model.stateful) return undefined;
    return {sequence_id: Number(this.sequence.value), sequence_start: this.start.checked, sequence_end: this.end.checked};
  }

  /** The request that the form means; it throws where the form is wrong. */
  #request() {
    const tensors = this.fields.map(field => field.tensor()).filter(tensor => tensor !== null);
    const outputs = this.model.outputs.map(wanted);
    const stream = this.streams.checked;
    const path = modelPath(this.model.name) + (this.version ? '/versions/' + encodeURIComponent(this.version) : '');
    const parameters = this.#parameters();
    if (!stream) {
      const plain = outputs.every((/** @type {any} */ output) => !output.parameters);
      return {tensors, stream, outputs, parameters, path: path + '/infer', ...encode(tensors, plain ? [] : outputs, parameters)};
    }
    if (tensors.some(tensor => tensor.bytes && tensor.datatype === 'BYTES')) throw new Error('a stream takes what can be written in JSON, not a file of bytes');
    const members = tensors.map(tensor => `${JSON.stringify(tensor.name)}:${jsonData(tensor)}`);
    if (parameters) members.push(`"parameters":${JSON.stringify(parameters)}`);
    const text = `{${members.join(',')}}`;
    return {tensors, stream, outputs, parameters, path: path + '/generate_stream', text, body: text, headers: {'content-type': 'application/json'}};
  }

  /** @param {Event} event */
  #submit(event) {
    event.preventDefault();
    this.send();
  }

  /** @param {KeyboardEvent} event */
  #keys(event) {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    this.send();
  }

  /** Sends while somebody draws: one request at a time, and the last drawing always. */
  async #live() {
    this.#show();
    this.dirty = true;
    if (this.drawing) return;
    this.drawing = true;
    while (this.dirty && !this.signal.aborted) {
      this.dirty = false;
      await this.send();
    }
    this.drawing = false;
  }

  async send() {
    let request;
    try {
      request = this.#request();
    } catch (e) {
      say(this.status, /** @type {Error} */ (e).message);
      return;
    }
    const began = performance.now();
    const took = () => duration((performance.now() - began) * 1000);
    try {
      const response = await ask(request.path, {method: 'POST', body: request.body, headers: /** @type {any} */ (request.headers), signal: this.signal});
      if (request.stream) await this.#stream(response, took);
      else await this.#whole(response, took);
      if (this.model.stateful) {
        this.start.checked = this.end.checked;
        this.end.checked = false;
      }
    } catch (e) {
      if (this.signal.aborted) return;
      say(this.status, took());
      fill(this.reply, h('p', {className: 'wrong', role: 'alert'}, /** @type {Error} */ (e).message));
    }
  }

  /**
   * @param {Response} response
   * @param {() => string} took
   */
  async #whole(response, took) {
    const {reply, bytes: size} = await decode(response);
    say(this.status, `${took()}, ${bytes(size)}`);
    const labels = new Map(this.model.outputs.map((/** @type {any} */ output) => [output.name, output.labels]));
    const outputs = (reply.outputs ?? []).map((/** @type {any} */ output) => ({...output, data: output.data?.flat(Infinity) ?? []}));
    const seen = this.fields.find(field => field.image);
    const found = seen ? over(await picture(/** @type {Blob} */ (seen.image)), outputs, labels, /** @type {any} */ (seen.form)) : [];
    fill(this.reply, ...found, ...outputs.flatMap((/** @type {any} */ output) => view(output, labels.get(output.name) ?? [])));
  }

  /**
   * @param {Response} response
   * @param {() => string} took
   */
  async #stream(response, took) {
    const list = h('ol', {className: 'stream', tabIndex: 0, 'aria-label': 'Answers'});
    fill(this.reply, list);
    let answers = 0;
    for await (const {data} of eventsOf(response)) {
      const answer = JSON.parse(data);
      const {model_name: _, model_version: __, id: ___, ...rest} = answer;
      const text = Object.entries(rest).map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`).join('   ');
      list.append(h('li', {className: answer.error ? 'wrong' : ''}, h('span', {className: 'soft'}, took()), h('span', {}, text)));
      list.scrollTop = list.scrollHeight;
      say(this.status, `${plural(++answers, 'answer')}, ${took()}`);
    }
    if (!answers) fill(this.reply, h('p', {className: 'soft'}, 'It answered nothing.'));
  }

  /** The request as a link and as an example, where it is small. @param {import('./tensor.js').Tensor[]} tensors */
  #kept(tensors) {
    if (tensors.some(tensor => tensor.bytes)) return {};
    const inputs = `[${tensors.map(({name, shape}, i) => `{"name": ${JSON.stringify(name)}, "shape": ${JSON.stringify(shape)}, "data": ${jsonData(tensors[i])}}`).join(', ')}]`;
    const address = `${location.href.split('#')[0]}${addressOf(this.model.name, this.version, 'try')}/${encodeURIComponent(inputs)}`;
    return {...(address.length <= LONGEST_LINK && {Link: address}), 'examples.json': `[\n  {"name": "an example", "inputs": ${inputs}}\n]`};
  }

  /** Shows the request in the chosen language. */
  #show() {
    let request;
    try {
      request = this.#request();
    } catch {
      return;
    }
    const {body} = request;
    /** @type {Record<string, string>} */
    const texts = {...samples({...request, model: this.model.name, version: this.version, slots: this.model.outputs, token: usesToken(), ...this.grpc}), ...this.#kept(request.tensors)};
    if (!texts[this.language]) this.language = 'curl';
    const tabs = Object.keys(texts).map(name => h('button', {type: 'button', role: 'tab', 'aria-selected': String(name === this.language), onclick: () => {
      this.language = name;
      this.#show();
      /** @type {HTMLElement} */ (this.samples.querySelector('[aria-selected="true"]')).focus();
    }}, name));
    const save = typeof body === 'string' ? null : h('button', {type: 'button', onclick: () => download(body)}, 'Save request.bin');
    fill(this.samples, h('div', {className: 'choice', role: 'tablist', 'aria-label': 'Language'}, ...tabs), save, copyable(texts[this.language]));
  }
}

/** @param {Blob} body */
function download(body) {
  const address = URL.createObjectURL(body);
  h('a', {href: address, download: 'request.bin'}).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** @param {import('./main.js').Context} context */
export function show(context) {
  const {root, place, model} = context;
  const name = place.model ?? '';
  if (model.state !== 'READY') {
    fill(root, modelHead(place), h('section', {}, h('p', {}, model.state === 'FAILED' ? 'There is nothing to try: the model did not load.' : `There is nothing to try: the model is ${stateWord(model.state)}.`), model.reason && h('p', {className: 'wrong'}, model.reason), h('p', {}, h('a', {href: addressOf(name, place.version)}, 'What to do'))));
    return;
  }
  const trial = new Trial(context);
  const description = h('p', {className: 'soft'}, model.decoupled ? 'It answers a request any number of times. ' : '', model.stateful ? 'It keeps a state from one request of a sequence to the next. ' : '',
    h('a', {href: `/openapi/${encodeURIComponent(name)}.json`}, 'Its OpenAPI description'));
  fill(root, modelHead(place, description), near(context), trial.elements());
}
