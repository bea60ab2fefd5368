package themes

import (
	"fmt"
	"math"
	"strconv"
)

// rgb is a colour in sRGB, each part from 0 to 1.
type rgb struct{ r, g, b float64 }

var (
	black = rgb{}
	white = rgb{1, 1, 1}
)

func (c rgb) String() string {
	part := func(x float64) int { return int(math.Round(clamp(x) * 255)) }
	return fmt.Sprintf("#%02x%02x%02x", part(c.r), part(c.g), part(c.b))
}

// clamp also makes 0 of what is no number.
func clamp(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, 1)
}

// rounded is the colour that #rrggbb says, which is the one that a person sees.
func (c rgb) rounded() rgb {
	part := func(x float64) float64 { return math.Round(clamp(x)*255) / 255 }
	return rgb{part(c.r), part(c.g), part(c.b)}
}

// hexColour reads #rgb, #rgba, #rrggbb or #rrggbbaa. What shines through is on.
func hexColour(s string, on rgb) (rgb, bool) {
	if len(s) < 4 || len(s) > 9 || s[0] != '#' {
		return rgb{}, false
	}
	digits := s[1:]
	if len(digits) <= 4 {
		wide := make([]byte, 0, 8)
		for i := range len(digits) {
			wide = append(wide, digits[i], digits[i])
		}
		digits = string(wide)
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits)%2 != 0 || len(digits) < 6 {
		return rgb{}, false
	}
	alpha := 1.0
	if len(digits) == 8 {
		alpha = float64(n&0xff) / 255
		n >>= 8
	}
	c := rgb{float64(n>>16&0xff) / 255, float64(n>>8&0xff) / 255, float64(n&0xff) / 255}
	return mix(on, c, alpha).rounded(), true
}

// mix goes from a to b by t of the way.
func mix(a, b rgb, t float64) rgb {
	return rgb{a.r + (b.r-a.r)*t, a.g + (b.g-a.g)*t, a.b + (b.b-a.b)*t}.rounded()
}

func linear(x float64) float64 {
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}

func curved(x float64) float64 {
	if x <= 0.0031308 {
		return 12.92 * x
	}
	return 1.055*math.Pow(x, 1/2.4) - 0.055
}

func luminance(c rgb) float64 {
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// contrast is that of WCAG 2: from 1 to 21.
func contrast(a, b rgb) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// lab is a colour in OKLab, in which equal distances look equal.
type lab struct{ l, a, b float64 }

func (c rgb) lab() lab {
	r, g, b := linear(c.r), linear(c.g), linear(c.b)
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return lab{0.2104542553*l + 0.7936177850*m - 0.0040720468*s, 1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s}
}

func (c lab) rgb() rgb {
	cube := func(x float64) float64 { return x * x * x }
	l := cube(c.l + 0.3963377774*c.a + 0.2158037573*c.b)
	m := cube(c.l - 0.1055613458*c.a - 0.0638541728*c.b)
	s := cube(c.l - 0.0894841775*c.a - 1.2914855480*c.b)
	return rgb{curved(4.0767416621*l - 3.3077115913*m + 0.2309699292*s), curved(-1.2684380046*l + 2.6097574011*m - 0.3413193965*s),
		curved(-0.0041960863*l - 0.7034186147*m + 1.7076147010*s)}.rounded()
}

func distance(a, b lab) float64 {
	return math.Sqrt((a.l-b.l)*(a.l-b.l) + (a.a-b.a)*(a.a-b.a) + (a.b-b.b)*(a.b-b.b))
}

// steps is how fine the way to white and to black is searched.
const steps = 100

// holding is the colour nearest to c that has so much contrast with each of the others, on
// the ways to white and to black that keep its hue: with all of its chroma as far as the
// screen has that, and with ever less. false: there is none.
func holding(c rgb, needs float64, others ...rgb) (rgb, bool) {
	lights := make([]float64, len(others))
	for i, o := range others {
		lights[i] = luminance(o)
	}
	holds := func(c rgb) bool {
		x := luminance(c)
		for _, y := range lights {
			if (max(x, y)+0.05)/(min(x, y)+0.05) < needs {
				return false
			}
		}
		return true
	}
	if holds(c) {
		return c, true
	}
	from, best, found := c.lab(), rgb{}, false
	for _, way := range []struct{ end, fades float64 }{{0, 0}, {0, 1}, {1, 0}, {1, 0.5}, {1, 1}} {
		for i := 1; i <= steps; i++ {
			t := float64(i) / steps
			x := lab{from.l + (way.end-from.l)*t, from.a * (1 - t*way.fades), from.b * (1 - t*way.fades)}.rgb()
			if !holds(x) {
				continue
			}
			if !found || distance(x.lab(), from) < distance(best.lab(), from) {
				best, found = x, true
			}
			break
		}
	}
	return best, found
}
