// Python that is executed in kernels is kept as files of its own, and bundled as text.
module.exports = {
  module: { rules: [{ test: /\.py$/, type: 'asset/source' }] }
};
