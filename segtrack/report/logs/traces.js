// Traces over time, one plot a quantity: zoomed, switched and read at one cursor; paths are in path.js.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("traces-data").textContent);
  const plotsAt = document.getElementById("plots");
  const switches = document.getElementById("switches");
  const ink = () => getComputedStyle(document.body).color;
  const faint = "#8884";
  const HEIGHT = 190;
  const hidden = new Set();  // Whose lines are switched off everywhere.
  let view = "over time";
  let plots = [];
  let span = null;  // Of all plots [s], once they are zoomed.
  let path = { draw() {}, mark() {} };

  const shown = (value) => value == null ? "" : String(Number(value.toPrecision(5)));

  function shade(plot, panel) {
    // Phases, named where there is room, and bands of noise, behind the lines.
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    [ctx.textAlign, ctx.textBaseline] = ["left", "top"];
    data.phases.forEach((phase, i) => {
      const left = Math.max(plot.valToPos(phase.begin, "x", true), bbox.left);
      const right = Math.min(plot.valToPos(phase.end, "x", true), bbox.left + bbox.width);
      ctx.fillStyle = `rgba(127, 127, 127, ${i % 2 ? 0.16 : 0.05})`;
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
      ctx.fillStyle = ink();
      if (ctx.measureText(phase.name).width < right - left - 4) ctx.fillText(phase.name, left + 3, bbox.top + 2);
    });
    panel.lines.forEach((line, i) => {
      if (line.margin === null || !plot.series[i + 1].show) return;
      const times = data.times[line.times];
      const edge = (k, sign) =>
        [plot.valToPos(times[k], "x", true), plot.valToPos(line.values[k] + sign * line.margin, "y", true)];
      ctx.beginPath();
      for (let k = 0; k < times.length; k++) ctx.lineTo(...edge(k, 1));
      for (let k = times.length - 1; k >= 0; k--) ctx.lineTo(...edge(k, -1));
      ctx.globalAlpha = 0.25;
      ctx.fillStyle = data.styles[line.of].colour || "#7f7f7f";
      ctx.fill();
      ctx.globalAlpha = 1;
    });
    ctx.restore();
  }

  const times = data.times.filter((each) => each.length);
  const all = {
    min: Math.min(...times.map((each) => each[0])),
    max: Math.max(...times.map((each) => each[each.length - 1])),
  };

  function zoomTo(low, high) {
    const isAll = high - low >= all.max - all.min;
    span = isAll ? null : { min: Math.max(low, all.min), max: Math.min(high, all.max) };
    for (const plot of plots) plot.setScale("x", span || all);
  }

  function onWheel(plot, event) {
    if (!event.ctrlKey && !event.shiftKey) return;  // The page is scrolled.
    event.preventDefault();
    const { min, max } = plot.scales.x;
    const turned = event.deltaY || event.deltaX;
    if (event.ctrlKey) {
      const at = plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x");
      const factor = Math.exp(0.002 * Math.max(-200, Math.min(200, turned)));
      zoomTo(at - (at - min) * factor, at + (max - at) * factor);
    } else {
      const by = Math.max(all.min - min, Math.min(all.max - max, Math.sign(turned) * 0.1 * (max - min)));
      zoomTo(min + by, max + by);
    }
  }

  function series(line) {
    const style = data.styles[line.of];
    return {
      label: style.short + (line.margin === null ? "" : ` \u00b1 ${line.margin}`),
      stroke: () => style.colour || ink(),
      dash: style.dash,
      width: 1.3,
      show: !hidden.has(line.of),
      value: (plot, value) => shown(value),
      points: { show: line.values.length < 2 },
    };
  }

  function makePlot(panel, at) {
    const axis = { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1 } };
    const options = {
      title: `${panel.name} [${panel.unit}]`,
      width: at.clientWidth,
      height: HEIGHT,
      scales: { x: { time: false, range: (plot, min, max) => [min, max] } },
      axes: [{ ...axis, size: 30 }, { ...axis, size: 62 }],
      series: [{ label: "time [s]", value: (plot, value) => shown(value) }, ...panel.lines.map(series)],
      cursor: {
        sync: {
          key: "traces", setSeries: false, scales: ["x", null],
          filters: { pub: (type) => type === "mousemove" || type === "mouseleave" },
        },
        drag: { x: true, y: false, setScale: false },
        hover: { prox: 40 },
        bind: { dblclick: () => () => zoomTo(-Infinity, Infinity) },
      },
      hooks: {
        drawClear: [(plot) => shade(plot, panel)],
        setSelect: [(plot) => {
          const { left, width } = plot.select;
          if (width > 0) zoomTo(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
          plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        }],
        setCursor: [(plot) => path.mark(plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") : null)],
      },
    };
    const tables = panel.lines.map((line) => [data.times[line.times], line.values]);
    const plot = new uPlot(options, uPlot.join(tables), at);
    plot.of = panel.lines.map((line) => line.of);
    plot.over.addEventListener("wheel", (event) => onWheel(plot, event), { passive: false });
    plot.setScale("x", span || all);
    plots.push(plot);
    return plot;
  }

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) target.plot.setSize({ width: target.clientWidth, height: HEIGHT });
  });

  const reached = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      reached.unobserve(target);
      target.plot = makePlot(target.panel, target);
      resized.observe(target);
    }
  }, { rootMargin: "300px" });  // Plots are made when they are scrolled to.

  function fill(at, panels) {
    const grid = at.appendChild(Object.assign(document.createElement("div"), { className: "grid" }));
    for (const panel of panels)
      reached.observe(grid.appendChild(Object.assign(document.createElement("div"), { panel })));
  }

  function show() {
    resized.disconnect();
    reached.disconnect();
    plots.forEach((plot) => plot.destroy());
    plots = [];
    plotsAt.replaceChildren();
    const panels = data.views[view];
    fill(plotsAt, panels.filter((panel) => panel.compared));
    const others = panels.filter((panel) => !panel.compared);
    if (!others.length) return;
    const more = plotsAt.appendChild(document.createElement("details"));
    more.appendChild(document.createElement("summary")).textContent =
      `${others.length} more: in the log alone, in simulations alone, or flippers at rest`;
    fill(more, others);
  }

  function addSwitch(text, colour, isOn, change) {
    const label = switches.appendChild(document.createElement("label"));
    const box = label.appendChild(document.createElement("input"));
    box.type = "checkbox";
    box.checked = isOn;
    box.addEventListener("change", () => change(box.checked));
    const mark = label.appendChild(document.createElement("span"));
    mark.style.color = colour || "inherit";
    mark.textContent = " \u25a0 ";
    label.append(text);
  }

  function addSwitches() {
    const there = new Set(data.views["over time"].flatMap((panel) => panel.lines.map((line) => line.of)));
    for (const who of Object.keys(data.styles).filter((each) => there.has(each))) {
      addSwitch(data.styles[who].label, data.styles[who].colour, true, (isOn) => {
        if (isOn) hidden.delete(who); else hidden.add(who);
        for (const plot of plots)
          plot.of.forEach((each, i) => each === who && plot.setSeries(i + 1, { show: isOn }));
        path.draw();
      });
    }
    addSwitch("simulation less log", "transparent", false, (isOn) => {
      view = isOn ? "simulation less log" : "over time";
      show();
    });
  }

  document.documentElement.classList.add("interactive");
  addSwitches();
  show();
  if (data.path !== null) path = showPath(data, hidden, ink, document.getElementById("path"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    plots.forEach((plot) => plot.redraw());
    path.draw();
  });
})();
