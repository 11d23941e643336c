// Numbers, sizes and times as people read them; elements made of text alone, never of markup.

export function number(value, digits = 4) {
  if (value === null || value === undefined) return '';
  if (Number.isInteger(value)) return value.toLocaleString('en-US');
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(2);
  if (size >= 1000) return Math.round(value).toLocaleString('en-US');
  return value.toPrecision(digits);
}

export function fraction(value) {
  return value === null || value === undefined ? '' : value.toFixed(4);
}

export function bytes(value) {
  if (value === null || value === undefined) return '';
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let unit = 0;
  let left = value;
  for (; left >= 999.5 && unit + 1 < units.length; ++unit) left /= 1000;
  return `${unit === 0 ? left : left.toPrecision(3)} ${units[unit]}`;
}

export function seconds(value) {
  if (value === null || value === undefined) return '';
  const whole = Math.round(value);
  if (whole < 60) return `${value < 10 ? Number(value.toPrecision(2)) : whole} s`;
  const two = (part) => String(part).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${two(whole % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

/// element('td', 'text', 'class'); children may be given in place of text.
export function element(tag, content = '', className = '') {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (Array.isArray(content)) made.append(...content);
  else made.textContent = content;
  return made;
}

/// Rows of texts under their titles; `numeric` columns stand to the right.
export function table(titles, rows, numeric = () => true) {
  const head = element('tr', titles.map((title, i) => {
    const cell = element('th', title, numeric(i) ? 'number' : '');
    cell.scope = 'col';
    return cell;
  }));
  const body = rows.map((row) => element('tr', row.map((text, i) =>
    element('td', text, numeric(i) ? 'number' : ''))));
  return scrolling(element('table', [element('thead', [head]), element('tbody', body)]));
}

/// What is wider than a phone moves by itself, also by the keyboard.
export function scrolling(inner) {
  const box = element('div', [inner], 'scroll');
  box.tabIndex = 0;
  return box;
}

export const byId = (id) => document.getElementById(id);
