// Loads exports into three.js as a web page would: the mesh by GLTFLoader, and the 16-bit PNG as the displacement of a
// PlaneGeometry by the numbers in the sidecar's steps. Every vertex is compared with the heights of the .r32.
//
// node check.mjs PROGRAM

import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {decode} from 'fast-png';
import {Box3, MathUtils, PlaneGeometry, REVISION, Vector3} from 'three';
import {GLTFLoader} from 'three/addons/loaders/GLTFLoader.js';

const program = resolve(process.argv[2]);
const {dependencies} = JSON.parse(readFileSync(new URL('package.json', import.meta.url)));
// The north-western corner lies far below the other three, so a terrain that is turned or mirrored is noticed.
const faults = [
  {from_m: [0, 200], to_m: [300, 0], displacement_m: 800},
  {from_m: [0, 600], to_m: [900, 500], displacement_m: 150},
];
let failures = 0;

// GLTFLoader refers to the browser's global object and to its images. Node has no images, so their bytes are kept.
globalThis.self = globalThis;
const images = [];
globalThis.createImageBitmap = async (blob) => {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const image = decode(bytes);
  images.push(image);
  return {width: image.width, height: image.height, close() {}};
};

function check(what, error, allowed, unit = 'm') {
  const right = error <= allowed;
  failures += !right;
  console.log(`${right ? 'right' : 'WRONG'}  ${what}: off by ${error.toPrecision(3)} ${unit} at most, ` +
    `allowed ${allowed.toPrecision(3)}`);
}

function confirm(what, right, found) {
  if (!right) {
    failures += 1;
    console.log(`WRONG  ${what}: ${found}`);
  }
}

function build(...words) {
  const run = spawnSync(program, ['build', ...words], {encoding: 'utf8'});
  if (run.status !== 0) throw new Error(run.stderr);
  return run.stderr;
}

const json = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** The heights of a .r32: the northern row first. */
function readHeights(path) {
  const side = json(`${path}.json`);
  const bytes = readFileSync(path);
  const floats = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return {width: side.width, height: side.height, at: (column, row) => floats[row * side.width + column], floats};
}

/** The height between four samples. */
function bilinear(heights, column, row) {
  const c = Math.min(Math.floor(column), heights.width - 2);
  const r = Math.min(Math.floor(row), heights.height - 2);
  const [u, v] = [column - c, row - r];
  const north = MathUtils.lerp(heights.at(c, r), heights.at(c + 1, r), u);
  const south = MathUtils.lerp(heights.at(c, r + 1), heights.at(c + 1, r + 1), u);
  return MathUtils.lerp(north, south, v);
}

/** The height of the mesh at every sample: each triangle, drawn from above. */
function rasterised(mesh, heights, world) {
  const found = new Float64Array(heights.width * heights.height).fill(NaN);
  const {position} = mesh.geometry.attributes;
  const indices = mesh.geometry.index.array;
  const samples = [heights.width - 1, heights.height - 1];
  const place = (index) => [
    (position.getX(index) / world[0] + 0.5) * samples[0], (position.getZ(index) / world[1] + 0.5) * samples[1],
    position.getY(index),
  ];
  const isBelow = (from, to, x, z) => (to[0] - from[0]) * (z - from[1]) - (to[1] - from[1]) * (x - from[0]);
  for (let i = 0; i < indices.length; i += 3) {
    const [a, b, c] = [place(indices[i]), place(indices[i + 1]), place(indices[i + 2])];
    const area = isBelow(a, b, c[0], c[1]);
    // Triangles that are seen from above run counterclockwise, which is clockwise where z points south.
    confirm('triangles face up', area < 0, area);
    const [left, right] = [Math.min(a[0], b[0], c[0]), Math.max(a[0], b[0], c[0])];
    const [top, bottom] = [Math.min(a[1], b[1], c[1]), Math.max(a[1], b[1], c[1])];
    for (let row = Math.ceil(top - 1e-3); row <= bottom + 1e-3; row += 1) {
      for (let column = Math.ceil(left - 1e-3); column <= right + 1e-3; column += 1) {
        const [wa, wb, wc] = [
          isBelow(b, c, column, row) / area, isBelow(c, a, column, row) / area, isBelow(a, b, column, row) / area,
        ];
        if (Math.min(wa, wb, wc) < -1e-4) continue;
        found[row * heights.width + column] = wa * a[2] + wb * b[2] + wc * c[2];
      }
    }
  }
  return found;
}

async function checkMesh(what, path, note, heights, world) {
  images.length = 0;
  const bytes = readFileSync(path);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const {scene} = await new GLTFLoader().parseAsync(buffer, '');
  scene.updateMatrixWorld(true);
  const meshes = [];
  scene.traverse((object) => object.isMesh && meshes.push(object));
  confirm(`${what} has one mesh`, meshes.length === 1, meshes.length);
  const [mesh] = meshes;
  const {position, normal, uv} = mesh.geometry.attributes;
  const point = new Vector3();
  let largest = 0;
  let slanted = 0;
  let offUv = 0;
  for (let i = 0; i < position.count; i += 1) {
    mesh.localToWorld(point.fromBufferAttribute(position, i));
    // In glTF and three.js y is up; here x points east and z south.
    const column = (point.x / world[0] + 0.5) * (heights.width - 1);
    const row = (point.z / world[1] + 0.5) * (heights.height - 1);
    largest = Math.max(largest, Math.abs(bilinear(heights, column, row) - point.y));
    slanted = Math.max(slanted, Math.abs(Math.hypot(normal.getX(i), normal.getY(i), normal.getZ(i)) - 1));
    confirm(`${what} normals point up`, normal.getY(i) > 0, normal.getY(i));
    const fractions = [column / (heights.width - 1), row / (heights.height - 1)];
    offUv = Math.max(offUv, Math.abs(uv.getX(i) - fractions[0]), Math.abs(uv.getY(i) - fractions[1]));
  }
  // Vertices are samples: only the place of a sample is rounded, to 32 bits.
  check(`${what} vertices (${position.count})`, largest, 1e-3);
  check(`${what} normals`, slanted, 1e-5, 'of 1');
  check(`${what} texture coordinates`, offUv, 1e-5, 'of 1');
  const stated = Number(/no height deviates by more than ([0-9.]+) m/.exec(note)[1]);
  const surface = rasterised(mesh, heights, world);
  let deviation = 0;
  surface.forEach((height, at) => {
    const error = Number.isNaN(height) ? Infinity : Math.abs(height - heights.floats[at]);
    deviation = Math.max(deviation, error);
  });
  // The stated error is rounded up to millimetres; places on a slope are rounded to 32 bits.
  check(`${what} surface at all samples, stated ${stated} m`, deviation, stated + 2e-3);
  const box = new Box3().setFromObject(scene);
  let [low, high] = [Infinity, -Infinity];
  for (const height of heights.floats) {
    low = Math.min(low, height);
    high = Math.max(high, height);
  }
  const expected = [-world[0] / 2, world[0] / 2, -world[1] / 2, world[1] / 2];
  const found = [box.min.x, box.max.x, box.min.z, box.max.z];
  check(`${what} width and depth`, Math.max(...found.map((side, i) => Math.abs(side - expected[i]))), 1e-6 * world[0]);
  check(`${what} lowest and highest`, Math.max(Math.abs(box.min.y - low), Math.abs(box.max.y - high)), stated + 1e-3);
  // The embedded texture is the one beside it.
  confirm(`${what} has a texture`, mesh.material.map && images.length === 1, images.length);
  confirm(`${what} texture is in sRGB`, mesh.material.map?.colorSpace === 'srgb', mesh.material.map?.colorSpace);
  confirm(`${what} texture is upright`, mesh.material.map?.flipY === false, mesh.material.map?.flipY);
  return images[0];
}

/** The sidecar's steps, followed with the geometry of three.js. */
function checkHeightmap(what, path, heights) {
  const steps = json(`${path}.json`).import.join(' ');
  const number = (words) => {
    const found = new RegExp(`${words} (-?[0-9.]+[0-9])`).exec(steps);
    if (!found) throw new Error(`no number after "${words}" in: ${steps}`);
    return Number(found[1]);
  };
  const size = [number('The map has'), number('The map has [0-9]+ ×')];
  const world = [number('The map is'), number('m wide and')];
  const span = number('set the height of the terrain to');
  const base = number('its base to');
  confirm(`${what} steps`, /starting at the north-west corner/.test(steps), steps);
  const image = decode(readFileSync(path));
  confirm(`${what} is 16-bit grey`, image.depth === 16 && image.channels === 1, `${image.depth}, ${image.channels}`);
  confirm(`${what} size`, image.width === size[0] && image.height === size[1], [image.width, image.height]);
  confirm(`${what} has no gamma`, image.iccEmbeddedProfile === undefined, 'a profile');
  // A PlaneGeometry lies in x and y, with its first row at the greatest y; turned by −90° about x, y points north.
  const plane = new PlaneGeometry(world[0], world[1], size[0] - 1, size[1] - 1);
  const {position} = plane.attributes;
  for (let i = 0; i < position.count; i += 1) position.setZ(i, base + (image.data[i] / 65535) * span);
  plane.rotateX(-Math.PI / 2);
  let largest = 0;
  for (let i = 0; i < position.count; i += 1) {
    const column = Math.round((position.getX(i) / world[0] + 0.5) * (heights.width - 1));
    const row = Math.round((position.getZ(i) / world[1] + 0.5) * (heights.height - 1));
    largest = Math.max(largest, Math.abs(position.getY(i) - heights.at(column, row)));
  }
  // The steps round metres to four places; positions have 32 bits.
  check(`${what} ${size[0]} × ${size[1]} displaced`, largest, (0.5 * span) / 65535 + 2e-4);
}

async function main() {
  console.log(`three.js r${REVISION}, fast-png ${dependencies['fast-png']}, Node ${process.version}`);
  const cases = [
    [1, [4096, 4096], '129', []], [2, [20480, 20480], '513', []], [3, [3000, 2000], '301', []],
    [4, [700, 1900], '257', []], [5, [1000, 1000], '100', []], [6, [5000, 1000], '333', []],
    [7, [20480, 20480], '1025', ['--mesh-vertices', '20000']], [8, [3000, 2000], '601', ['--mesh-error', '0.5']],
  ];
  for (const [seed, world, size, options] of cases) {
    const folder = mkdtempSync(join(tmpdir(), 'three-'));
    try {
      const stack = [{operation: 'faults', count: 200}, {operation: 'drawn_faults', faults}];
      const recipe = {seed, world: {width_m: world[0], depth_m: world[1]}, stack};
      const project = join(folder, 'p.upthrust.json');
      writeFileSync(project, JSON.stringify({format: 1, recipe}));
      const out = join(folder, 'out');
      build(project, '--size', size, '--heightmap', join(folder, 'h.r32'));
      const heights = readHeights(join(folder, 'h.r32'));
      const corners = [
        heights.at(heights.width - 1, 0), heights.at(0, heights.height - 1),
        heights.at(heights.width - 1, heights.height - 1),
      ];
      confirm('orientation of the terrain', heights.at(0, 0) < Math.min(...corners) - 500, heights.at(0, 0));
      const what = `${heights.width} × ${heights.height} of ${world.join(' × ')} m`;
      if (options.length > 0) {
        const note = build(project, '--size', size, '--mesh', join(folder, 'm.glb'), ...options);
        await checkMesh(`glb ${options.join(' ')} ${what}`, join(folder, 'm.glb'), note, heights, world);
        continue;
      }
      const note = build(project, '--for', 'generic', '-o', out, '--size', size);
      const texture = await checkMesh(`glb ${what}`, join(out, 'terrain.glb'), note, heights, world);
      const beside = decode(readFileSync(join(out, 'texture.png')));
      const isSame = texture && Buffer.compare(Buffer.from(texture.data), Buffer.from(beside.data)) === 0;
      confirm('texture of the mesh is texture.png', isSame, 'another image');
      checkHeightmap('height.png', join(out, 'height.png'), heights);
    } finally {
      rmSync(folder, {recursive: true});
    }
  }
  console.log(`${failures} wrong`);
  process.exit(failures > 0 ? 1 : 0);
}

await main();
