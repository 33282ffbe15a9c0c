// Labels the points of TensorBoard's projector. By itself it labels the point under the pointer, and those that are
// selected with their neighbours: at first none. This adds the first points of the table, most frequent words first,
// while nothing is selected. If labels would overlap, the projector draws the first.
(() => {
  const MOST_LABELS = 10000; // choosing among them takes some milliseconds a picture
  const MILLISECONDS = 100; // between two checks whether the projector is there

  const inShadow = (element, selector) => element && (element.shadowRoot || element).querySelector(selector);

  // Wraps the method that chooses labels, which `plot` calls after every change.
  const labelFirstPoints = (plot) => {
    const chosenLabels = plot.generateVisibleLabelRenderParams;
    plot.generateVisibleLabelRenderParams = function (data, selected, neighbours, ...others) {
      const isChosen = [selected, neighbours].some((points) => points && points.length);
      const firstPoints = () => data.points.slice(0, MOST_LABELS).map((_, index) => ({index}));
      return chosenLabels.call(this, data, selected, data && !isChosen ? firstPoints() : neighbours, ...others);
    };
    plot.updateScatterPlotAttributes();
    plot.render();
  };

  const waiting = setInterval(() => {
    const projector = inShadow(document.querySelector('vz-projector-dashboard'), 'vz-projector');
    const plot = projector && projector.projectorScatterPlotAdapter;
    if (!plot) return;
    clearInterval(waiting);
    if (plot.generateVisibleLabelRenderParams && plot.updateScatterPlotAttributes) labelFirstPoints(plot);
  }, MILLISECONDS);
})();
