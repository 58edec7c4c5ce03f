// speedscope's own importer's reading of a file: for each profile its name, unit and total, and by function the self and total
// weights. The importer is only in the page's bundle, so the bundle is run without a page: it fails when it comes to drawing,
// long after the importer is available.
//
//     node speedscope_totals.cjs FILE        NODE_PATH says where the package is
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

function importer() {
  const root = path.dirname(require.resolve('speedscope/package.json'));
  const release = path.join(root, 'dist/release');
  const name = fs.readdirSync(release).find((file) => /^speedscope-.*\.js$/.test(file));
  const bundle = fs.readFileSync(path.join(release, name), 'utf8');
  const entry = /async function (\w+)\(\w+,\w+\)\{return\(await \w+\)\.importProfileGroupFromText\(/;
  const found = entry.exec(bundle);
  if (!found) throw new Error('speedscope has no importProfileGroupFromText: another version?');
  const anything = new Proxy(function () {}, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => '' : anything),
    set: () => true,
    apply: () => anything,
    construct: () => anything,
  });
  const world = {console: {...console, log() {}}, TextDecoder, TextEncoder, URL, setTimeout, performance, atob, btoa,
                 document: anything, navigator: {platform: '', userAgent: ''}, location: {hash: '', href: ''}};
  world.window = world.self = world.globalThis = world;
  world.addEventListener = () => {};
  world.matchMedia = () => ({matches: false, addEventListener() {}, addListener() {}});
  try {
    vm.runInNewContext(bundle.replace(entry, `window.importText=${found[1]};$&`), world);
  } catch (error) {
    if (!world.importText) throw error;
  }
  return world.importText;
}

async function main(file) {
  const group = await importer()(path.basename(file), fs.readFileSync(file, 'utf8'));
  if (!group) throw new Error(`${file}: speedscope does not know what it is`);
  const profiles = group.profiles.map((profile) => {
    const functions = {};
    profile.forEachFrame((frame) => {
      const of = functions[frame.name] ??= {self: 0, total: 0};
      of.self += frame.getSelfWeight();
      of.total += frame.getTotalWeight();
    });
    return {name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), functions};
  });
  process.stdout.write(JSON.stringify({name: group.name, profiles}));
}

main(process.argv[2]).catch((error) => {
  console.error(error.stack);
  process.exit(1);
});
