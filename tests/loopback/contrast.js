(element) => {
  // [red, green, blue, alpha], each in [0, 1]
  const parsed = (text) => {
    const numbers = text.match(/-?[\d.]+(?:e-?\d+)?/g).map(Number);
    const [red, green, blue, alpha = 1] = numbers;
    if (text.startsWith("rgb")) return [red / 255, green / 255, blue / 255, alpha];
    if (text.startsWith("color(srgb ")) return [red, green, blue, alpha];
    throw new Error(`cannot read the colour ${text}`);
  };
  const over = (colour, share, behind) => behind.map((part, at) => colour[at] * share + part * (1 - share));
  const ancestors = [];
  for (let one = element; one; one = one.parentElement) ancestors.unshift(one);
  const painted = (depth, behind, ink) => {
    if (depth === ancestors.length) return ink ? over(ink, ink[3], behind) : behind;
    const style = getComputedStyle(ancestors[depth]);
    if (style.backgroundImage !== "none") throw new Error(`${ancestors[depth].tagName} has a picture behind its text`);
    const ground = parsed(style.backgroundColor);
    const inner = painted(depth + 1, over(ground, ground[3], behind), ink);
    return over(inner, Number(style.opacity), behind);
  };
  const luminance = (colour) => {
    const linear = colour.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const paper = [1, 1, 1];
  const both = [painted(0, paper, parsed(getComputedStyle(element).color)), painted(0, paper, null)].map(luminance);
  return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
}
