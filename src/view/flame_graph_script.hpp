// What a flame graph does in a browser: a click on a frame makes it as wide as the picture, with
// all that it called; a click on the lowest one shows everything again. Names are only ever read
// from and written to text nodes.
#pragma once

namespace loft::view {

inline constexpr const char* kFlameGraphScript = R"js(
(function () {
  var letter = 6.6, left = 10, full = 1180;
  document.querySelectorAll('.graph').forEach(function (graph) {
    var frames = [].map.call(graph.querySelectorAll('.f'), function (g) {
      var rect = g.querySelector('rect');
      return {g: g, rect: rect, text: g.querySelector('text'),
              name: g.querySelector('title').textContent.replace(/ \([^(]*samples, [^)]*\)$/, ''),
              x: +rect.getAttribute('x'), w: +rect.getAttribute('width'),
              y: +rect.getAttribute('y')};
    });
    function show(to) {
      frames.forEach(function (f) {
        var above = f.y <= to.y;
        var inside = above ? f.x >= to.x - 0.01 && f.x + f.w <= to.x + to.w + 0.01
                           : f.x <= to.x + 0.01 && f.x + f.w >= to.x + to.w - 0.01;
        f.g.style.display = inside ? '' : 'none';
        if (!inside) return;
        var x = above ? left + (f.x - to.x) * full / to.w : left;
        var w = above ? f.w * full / to.w : full;
        f.rect.setAttribute('x', x);
        f.rect.setAttribute('width', w);
        f.text.setAttribute('x', x + 3);
        var room = Math.floor((w - 6) / letter);
        f.text.textContent = room < 3 ? '' : f.name.length <= room ? f.name
                                                                   : f.name.slice(0, room - 2) + '..';
      });
    }
    frames.forEach(function (f) { f.g.addEventListener('click', function () { show(f); }); });
  });
})();
)js";

}  // namespace loft::view
