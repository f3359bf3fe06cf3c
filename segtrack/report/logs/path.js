// Paths in 3-D over their terrain, turned by the mouse; returns functions that draw it and mark a time [s].
function showPath({ path, styles }, hidden, ink, canvas) {
  function nearest(times, time) {
    let best = 0;
    for (let k = 1; k < times.length; k++) if (Math.abs(times[k] - time) < Math.abs(times[best] - time)) best = k;
    return best;
  }

  const low = [path.x[0], path.y[0], Infinity];
  const high = [path.x[path.x.length - 1], path.y[path.y.length - 1], -Infinity];
  const heights = [...path.z.flat(), ...path.lines.flatMap((line) => line.points.map((point) => point[2]))];
  for (const z of heights) if (z !== null) [low[2], high[2]] = [Math.min(low[2], z), Math.max(high[2], z)];
  const middle = low.map((value, i) => (value + high[i]) / 2);
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => low.map((value, i) => (bits >> i) & 1 ? high[i] : value));
  const home = { azimuth: -1.1, elevation: 0.45, zoom: 1 };
  let eye = { ...home };
  const scene = document.createElement("canvas");  // All but the marks, which move with the plots' cursor.
  let time = null;

  const seen = ([x, y, z]) => {
    // Right, up and towards the eye [m].
    const [a, b, c] = [x - middle[0], y - middle[1], z - middle[2]];
    const right = -Math.sin(eye.azimuth) * a + Math.cos(eye.azimuth) * b;
    const away = -Math.cos(eye.azimuth) * a - Math.sin(eye.azimuth) * b;
    const up = Math.sin(eye.elevation) * away + Math.cos(eye.elevation) * c;
    return [right, up, -Math.cos(eye.elevation) * away + Math.sin(eye.elevation) * c];
  };
  let scale = 1;  // Pixels a metre, along all axes: all is seen from every side.
  const project = (point) => {
    const [right, up, near] = seen(point);
    return [canvas.width / 2 + scale * right, canvas.height / 2 - scale * up, near];
  };

  function draw() {
    if (!canvas.clientWidth) return;  // In print, where it is not seen; a canvas without pixels cannot be copied.
    scene.width = canvas.width = canvas.clientWidth * devicePixelRatio;
    scene.height = canvas.height = canvas.clientHeight * devicePixelRatio;
    const ctx = scene.getContext("2d");
    const reach = [0, 1].map((i) => 2 * Math.max(...corners.map((corner) => Math.abs(seen(corner)[i]))));
    scale = 0.9 * eye.zoom * Math.min(canvas.width / reach[0], canvas.height / reach[1]);
    const grid = path.z.map((row, j) => row.map((z, i) => z === null ? null : project([path.x[i], path.y[j], z])));
    const faces = [];
    for (let j = 0; j + 1 < path.y.length; j++) {
      for (let i = 0; i + 1 < path.x.length; i++) {
        const face = [grid[j][i], grid[j][i + 1], grid[j + 1][i + 1], grid[j + 1][i]];
        if (!face.includes(null)) faces.push(face);
      }
    }
    const depth = (face) => face.reduce((sum, corner) => sum + corner[2], 0);
    faces.sort((a, b) => depth(a) - depth(b));
    ctx.lineWidth = 0.5 * devicePixelRatio;
    for (const face of faces) {
      ctx.beginPath();
      face.forEach(([x, y]) => ctx.lineTo(x, y));
      ctx.closePath();
      ctx.fillStyle = "#d9cfc1";
      ctx.strokeStyle = "#7a6a5580";
      ctx.fill();
      ctx.stroke();
    }
    for (const line of path.lines) {
      if (hidden.has(line.of)) continue;
      const style = styles[line.of];
      ctx.lineJoin = ctx.lineCap = "round";  // Noise of a robot at rest would be a star.
      ctx.beginPath();
      line.points.forEach((point) => ctx.lineTo(...project(point).slice(0, 2)));
      ctx.strokeStyle = "#fff8";  // A rim, for black on dark pages.
      ctx.lineWidth = 4 * devicePixelRatio;
      ctx.stroke();
      ctx.strokeStyle = style.colour || "black";
      ctx.lineWidth = 2 * devicePixelRatio;
      ctx.setLineDash(style.dash.map((length) => length * devicePixelRatio));
      ctx.stroke();
      ctx.setLineDash([]);
    }
    drawAxes(ctx);
    drawMarks();
  }

  function drawMarks() {
    const ctx = canvas.getContext("2d");
    ctx.clearRect(0, 0, canvas.width, canvas.height);
    ctx.drawImage(scene, 0, 0);
    for (const line of time === null ? [] : path.lines.filter((each) => !hidden.has(each.of))) {
      const [x, y] = project(line.points[nearest(line.times, time)]);
      ctx.fillStyle = styles[line.of].colour || "black";
      ctx.beginPath();
      ctx.arc(x, y, 5 * devicePixelRatio, 0, 2 * Math.PI);
      ctx.fill();
    }
  }

  function drawAxes(ctx) {
    // Three arms at the corner with the least coordinates, as long as they say.
    ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    [ctx.textAlign, ctx.textBaseline] = ["center", "middle"];
    ctx.strokeStyle = ctx.fillStyle = ink();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ["x", "y", "z"].forEach((name, i) => {
      if (high[i] === low[i]) return;
      const unit = 10 ** Math.floor(Math.log10(high[i] - low[i]));
      const arm = [5, 2, 1].find((times) => times * unit <= high[i] - low[i]) * unit;
      const end = low.map((value, k) => value + (k === i ? arm : 0));
      const [[x0, y0], [x1, y1]] = [project(low), project(end)];
      ctx.beginPath();
      ctx.moveTo(x0, y0);
      ctx.lineTo(x1, y1);
      ctx.stroke();
      const [x, y] = [x1 - canvas.width / 2, y1 - canvas.height / 2];  // Outwards: beside the terrain.
      const out = 30 * devicePixelRatio / Math.hypot(x, y);
      ctx.fillText(`${name} ${Number(arm.toPrecision(1))} m`, x1 + out * x, y1 + out * y);
    });
  }

  canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (!event.buttons) return;
    eye.azimuth -= 0.01 * event.movementX;
    eye.elevation = Math.max(-1.57, Math.min(1.57, eye.elevation + 0.01 * event.movementY));
    draw();
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    eye.zoom *= Math.exp(-0.002 * event.deltaY);
    draw();
  }, { passive: false });
  canvas.addEventListener("dblclick", () => { eye = { ...home }; draw(); });
  new ResizeObserver(draw).observe(canvas);
  let isAsked = false;
  const mark = (when) => {  // Once a frame, though all plots' cursors call.
    time = when;
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => { isAsked = false; drawMarks(); });
  };
  return { draw, mark };
}
