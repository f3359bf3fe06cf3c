/** The page's connection to the station: JSON both ways, binary states from it; it comes back by itself. */

import { readState } from "./state.js";

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;
const PING_EVERY = 1000;

export class Connection {
  /**
   * @param {string} url Of the socket.
   * @param {() => object} hello The first message of each connection.
   * @param {{message: Function, state: Function, change: Function}} on What is called with JSON messages,
   *   states, and "connecting", "open" or "lost".
   */
  constructor(url, hello, on) {
    Object.assign(this, { url, hello, on, wait: FIRST_WAIT, roundTrip: null, closed: false });
    this.pinging = setInterval(() => this.send({ type: "ping", time: performance.now() }), PING_EVERY);
    this.open();
  }

  open() {
    this.on.change("connecting");
    this.socket = new WebSocket(this.url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.send(this.hello());
    this.socket.onmessage = ({ data }) => this.receive(data);
    this.socket.onclose = () => this.reopen();
  }

  receive(data) {
    if (typeof data !== "string") {
      const state = readState(data);
      if (state) this.on.state(state);
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "welcome") {
      this.wait = FIRST_WAIT;
      this.on.change("open");
    }
    if (message.type === "pong") this.roundTrip = performance.now() - message.time;
    else this.on.message(message);
  }

  /** Try again, each time after twice as long. */
  reopen() {
    if (this.closed) return;
    this.roundTrip = null;
    this.on.change("lost");
    this.retry = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }

  /** Send a message; while the socket is not open it is dropped, never kept for later. */
  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  close() {
    this.closed = true;
    clearInterval(this.pinging);
    clearTimeout(this.retry);
    this.socket.close();
  }
}
