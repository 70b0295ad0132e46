// Reads the given JSON files as JavaScript does and prints every number that changes, with its
// file; then the count of numbers and of digit strings.
import { readFileSync } from 'node:fs';

// Sign, digits without leading and trailing zeros, and position of the decimal point.
function decimalOf(text) {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  const digits = (whole + fraction).replace(/^0+/, '');
  const stripped = digits.replace(/0+$/, '');
  const power = Number(exponent) - fraction.length + digits.length - stripped.length;
  return stripped === '' ? '0' : `${sign}${stripped}e${power}`;
}

let numbers = 0, strings = 0;
for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, 'utf8');
  JSON.parse(text);
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g)) {
    if (token.startsWith('"')) {
      if (/^"-?\d{16,}(\.\d+)?"$/.test(token)) ++strings;
      continue;
    }
    ++numbers;
    if (decimalOf(token) !== decimalOf(String(Number(token)))) console.log(`${file}: ${token}`);
  }
}
console.log(`${numbers > 0} ${strings > 0}`);
