/** A belt's path: lines and arcs in (x, z) of the track frame, as in `segtrack.geometry.path`. */

export class BeltPath {
  /** @param {object[]} segments In the belt's order: start [m], heading [rad], and length or radius and turn. */
  constructor(segments) {
    this.perimeter = 0;
    this.segments = segments.map((segment) => {
      const [x, z] = segment.start;
      const { heading } = segment;
      const radius = segment.turn ? Math.sign(segment.turn) * segment.radius : 0;
      const length = segment.turn ? segment.radius * Math.abs(segment.turn) : segment.length;
      const from = this.perimeter;
      this.perimeter += length;
      return { x, z, heading, radius, length, from };
    });
  }

  /** Write x, z [m] and heading about +y [rad] at a belt coordinate [m], any, into `out`. */
  locate(coordinate, out) {
    const folded = coordinate - this.perimeter * Math.floor(coordinate / this.perimeter);
    let i = this.segments.length - 1;
    while (i > 0 && this.segments[i].from > folded) i--;
    const { x, z, heading, radius, from } = this.segments[i];
    const along = folded - from;
    if (radius === 0) {
      out[0] = x + along * Math.cos(heading);
      out[1] = z - along * Math.sin(heading);
      out[2] = heading;
    } else {
      const turned = heading + along / radius;
      out[0] = x + radius * (Math.sin(turned) - Math.sin(heading));
      out[1] = z + radius * (Math.cos(turned) - Math.cos(heading));
      out[2] = turned;
    }
  }

  /** The path as a polygon of x, z [m], arcs in chords of 15 degrees at most. */
  outline() {
    const points = [];
    const at = [0, 0, 0];
    for (const { radius, length, from } of this.segments) {
      const chords = radius ? Math.ceil(length / Math.abs(radius) / (Math.PI / 12)) : 1;
      for (let i = 0; i < chords; i++) {
        this.locate(from + (length * i) / chords, at);
        points.push([at[0], at[1]]);
      }
    }
    return points;
  }
}
