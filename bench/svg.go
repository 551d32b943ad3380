package main

import (
	"fmt"
	"math"
	"strings"
)

// A drawing is an SVG in the making. Text and lines are of a grey that can be
// read on light and on dark pages: what colour the page has, an image isn't told.
type drawing struct {
	width, height int
	body          strings.Builder
}

const style = `<style>
text { font: 12px system-ui, sans-serif; fill: #757d86 }
.head { font-size: 14px; font-weight: 600 }
.grid { stroke: #8c959f; stroke-opacity: .35 }
.base { stroke: #8c959f; stroke-width: 2 }
</style>`

func (d *drawing) text(x, y float64, anchor, class, s string) {
	fmt.Fprintf(&d.body, `<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`+"\n", x, y, anchor, class, escape(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&d.body, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`+"\n", x1, y1, x2, y2, class)
}

func (d *drawing) dot(x, y float64, colour, title string) {
	fmt.Fprintf(&d.body, `<circle cx="%.1f" cy="%.1f" r="5" fill="%s"><title>%s</title></circle>`+"\n", x, y, colour, escape(title))
}

func (d *drawing) path(points [][2]float64, colour string) {
	var b strings.Builder
	for i, p := range points {
		verb := "L"
		if i == 0 {
			verb = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", verb, p[0], p[1])
	}
	fmt.Fprintf(&d.body, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", b.String(), colour)
}

func (d *drawing) String() string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">`+"\n%s\n%s</svg>\n",
		d.width, d.height, d.width, d.height, style, d.body.String())
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// A scale is a logarithmic axis: values from lo to hi onto pixels from a to b.
type scale struct{ lo, hi, a, b float64 }

func (s scale) at(v float64) float64 {
	v = min(max(v, s.lo), s.hi)
	return s.a + (s.b-s.a)*math.Log(v/s.lo)/math.Log(s.hi/s.lo)
}

// ticks are the values of an axis to name: 1, 2 and 5 in each decade, or
// only the decades where there are many.
func (s scale) ticks() []float64 {
	steps := []float64{1, 2, 5}
	if s.hi/s.lo > 300 {
		steps = steps[:1]
	}
	var ts []float64
	for decade := math.Pow(10, math.Floor(math.Log10(s.lo))); decade <= s.hi; decade *= 10 {
		for _, k := range steps {
			if v := k * decade; v >= s.lo*.999 && v <= s.hi*1.001 {
				ts = append(ts, v)
			}
		}
	}
	return ts
}

// short is a number as an axis names it.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%gM", v/1e6)
	case v >= 1e3 && math.Mod(v, 1e3) == 0:
		return fmt.Sprintf("%gk", v/1e3)
	}
	return fmt.Sprintf("%g", math.Round(v*100)/100)
}
