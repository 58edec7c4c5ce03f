// pprof-format's reading of a file: the types of its values, their totals, and by function the self and total weights.
//
//     node pprof_totals.cjs FILE        NODE_PATH says where the package is
'use strict';
const fs = require('node:fs');
const zlib = require('node:zlib');
const {Profile} = require('pprof-format');

const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[2])));
const text = (index) => profile.stringTable.strings[Number(index)];
const byId = (list) => new Map(list.map((each) => [String(each.id), each]));
const functions = byId(profile.function);
const locations = byId(profile.location);
const mappings = byId(profile.mapping);

const nameOf = (id) => text(functions.get(String(locations.get(String(id)).line[0].functionId)).name);
const totals = profile.sampleType.map(() => 0);
const byFunction = {};
const labels = new Set();
for (const sample of profile.sample) {
  const values = sample.value.map(Number);
  if (values.length !== totals.length) throw new Error('a sample has another number of values than there are types');
  const names = sample.locationId.map(nameOf);
  const add = (name, kind) => {
    const of = (byFunction[name] ??= {self: totals.map(() => 0), total: totals.map(() => 0)});
    values.forEach((value, i) => (of[kind][i] += value));
  };
  values.forEach((value, i) => (totals[i] += value));
  add(names[0], 'self');
  new Set(names).forEach((name) => add(name, 'total'));
  for (const label of sample.label) labels.add(`${text(label.key)}=${Number(label.str) ? text(label.str) : label.num}`);
}
let addresses = 0;
for (const location of profile.location) {
  const mapping = mappings.get(String(location.mappingId));
  if (Number(location.mappingId) && !mapping) throw new Error('a mapping is missing');
  const address = BigInt(location.address);
  if (address === 0n) continue;
  ++addresses;
  if (address < BigInt(mapping.memoryStart) || address >= BigInt(mapping.memoryLimit)) throw new Error('an address outside of its mapping');
}
process.stdout.write(JSON.stringify({
  types: profile.sampleType.map((type) => [text(type.type), text(type.unit)]),
  default: text(profile.defaultSampleType),
  builds: Object.fromEntries(profile.mapping.map((mapping) => [text(mapping.filename), text(mapping.buildId)])),
  duration_ns: Number(profile.durationNanos),
  labels: [...labels],
  addresses,
  totals,
  functions: byFunction,
}));
