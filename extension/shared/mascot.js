// The pixel mascot: a small terminal on two feet whose face tells how things are.

const BODY = [
  '................',
  '..............1.',
  '.............1..',
  '..1111111111111.',
  '.111111111111111',
  '.112222222222211',
  '.112222222222211',
  '.112222222222211',
  '.112222222222211',
  '.112222222222211',
  '.112222222222211',
  '.111111111111111',
  '.111111111133311',
  '..1111111111111.',
  '....11.....11...',
  '...111.....111..',
];

/** Eyes and mouth on the screen, eleven columns by six rows. */
const FACES = {
  idle: ['...........', '..##...##..', '..##...##..', '...........', '....###....', '...........'],
  working: ['...........', '.##....###.', '..##.......', '.##........', '.....####..', '...........'],
  waiting: ['...###.....', '..#...#....', '......#....', '....##.....', '...........', '....##.....'],
  happy: ['...........', '..#.....#..', '.#.#...#.#.', '...........', '...#...#...', '....###....'],
  error: ['...........', '..#.#.#.#..', '...#...#...', '..#.#.#.#..', '...........', '...#####...'],
  sleep: ['...........', '...........', '..###.###..', '...........', '.....##....', '...........'],
};

/** @typedef {keyof typeof FACES} Pose */

const SVG = 'http://www.w3.org/2000/svg';

/**
 * @param {Element} parent
 * @param {number} x
 * @param {number} y
 * @param {string} className
 */
function pixel(parent, x, y, className) {
  const rect = document.createElementNS(SVG, 'rect');
  for (const [name, value] of Object.entries({ x, y, width: 1, height: 1, class: className })) {
    rect.setAttribute(name, String(value));
  }
  parent.append(rect);
}

/**
 * Decoration: state is told in words elsewhere.
 * @param {Pose} pose
 * @returns {SVGSVGElement}
 */
export function mascot(pose) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', 'mascot');
  svg.setAttribute('data-pose', pose);
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('shape-rendering', 'crispEdges');
  BODY.forEach((row, y) =>
    [...row].forEach((cell, x) => cell !== '.' && pixel(svg, x, y, ['', 'shell', 'screen', 'led'][Number(cell)] ?? '')),
  );
  const face = document.createElementNS(SVG, 'g');
  face.setAttribute('class', 'face');
  FACES[pose].forEach((row, y) => [...row].forEach((cell, x) => cell === '#' && pixel(face, x + 3, y + 5, 'lit')));
  svg.append(face);
  return svg;
}
