// Narrows the columns of the HParams tab's table. A screen then shows five hyper-parameters and a run's final values
// side by side; at TensorBoard's own width most final values are beyond the right edge.
customElements.whenDefined('vaadin-grid-column').then((column) => {
  const OWN_WIDTH = '10em';
  const NAME_WIDTH = '7em';
  const VALUE_WIDTH = '6em'; // fits five digits with an exponent

  const {ready} = column.prototype;
  column.prototype.ready = function () {
    ready.call(this);
    if (this.width === OWN_WIDTH) this.width = this.flexGrow > 0 ? VALUE_WIDTH : NAME_WIDTH;
  };
  document.documentElement.style.setProperty('--lumo-space-m', '0.5rem'); // space at both sides of a cell
});
