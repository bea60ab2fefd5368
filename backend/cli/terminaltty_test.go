package cli

import "testing"

func TestDrawnWith(t *testing.T) {
	for in, want := range map[string]string{
		"15;0": "#000000", "0;15": "#ffffff", "0;default;15": "#ffffff", "0;7": "#ffffff", "7;8": "#000000",
		"": "", "15": "", "0;default": "", "0;99": "", "0;-1": "",
	} {
		if got := drawnWith(in)["background"]; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
