package main

import "fmt"

// verdict says which target a figure has reached; the lower, the better.
func verdict(value, must, aim float64) string {
	switch {
	case must == 0 && aim == 0:
		return ""
	case value <= aim:
		return "aim"
	case must == 0:
		return "aim missed"
	case value <= must:
		return "must"
	}
	return "MISSED"
}

// target is a target as tables show it; zero: there is none.
func target(x float64) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", x)
}
