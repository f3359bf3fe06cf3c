/** The station's binary state: a 92-byte header and float32 arrays, little-endian. */

const HEADER = 92;
const MAGIC = 0x32544753; // "SGT2"

export const FLAG = {
  eStop: 1,
  watchdog: 2,
  replay: 4,
  ghost: 8,
  contacts: 16,
  trial: 32,
  trialPaused: 64,
  slow: 128,
  noPicture: 256,
};

/** The state in an ArrayBuffer; null if it is none. Names and units are those of `StateMessage`. */
export function readState(buffer) {
  if (buffer.byteLength < HEADER) return null;
  const view = new DataView(buffer);
  const counts = [72, 76, 80, 84, 88].map((offset) => view.getUint32(offset, true));
  const [pictures, poses, ghosts, readings, contacts] = counts;
  const floats = pictures + poses + ghosts + readings + 6 * contacts;
  if (view.getUint32(0, true) !== MAGIC || buffer.byteLength !== HEADER + 4 * floats) return null;
  let offset = HEADER;
  const take = (count) => {
    const array = new Float32Array(buffer, offset, count);
    offset += 4 * count;
    return array;
  };
  return {
    scene: view.getUint32(4, true),
    frame: view.getUint32(8, true),
    flags: view.getUint32(12, true),
    time: view.getFloat64(16, true),
    serverTime: view.getFloat64(24, true),
    trialClock: view.getFloat64(32, true),
    clientTime: view.getFloat64(40, true),
    realTimeFactor: view.getFloat32(48, true),
    lateShare: view.getFloat32(52, true),
    energy: view.getFloat32(56, true),
    commandAge: view.getFloat32(60, true),
    pictureFrame: view.getUint32(64, true),
    damage: view.getUint32(68, true),
    picture: take(pictures),
    pose: take(poses),
    ghost: take(ghosts),
    readings: take(readings),
    contacts: take(6 * contacts),
  };
}
