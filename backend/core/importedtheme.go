package core

// Theme is a look of the page that a person imported.
type Theme struct {
	Name  string      `json:"name"`
	Looks []ThemeLook `json:"looks"` // a dark one, a light one, or both
}

// ThemeLook has the colours of a theme for a dark or a light page.
type ThemeLook struct {
	Dark   bool              `json:"dark"`
	Colors map[string]string `json:"colors"` // #rrggbb by the page's tokens, without their dashes
}

// ReadTheme is what the text of a theme says, before it is kept.
type ReadTheme struct {
	Name    string        `json:"name"`
	Format  string        `json:"format"` // in words
	Look    ThemeLook     `json:"look"`
	Changes []ThemeChange `json:"changes"` // colours that had too little contrast
	// Kept says what is there under the name: "", "same" a look of this kind, which would be
	// replaced, or "other" the other look, which this one joins.
	Kept string `json:"kept"`
}

// ThemeChange is a colour of the text that was moved to the nearest one that can be read.
type ThemeChange struct {
	What  string  `json:"what"` // as the text calls it
	From  string  `json:"from"`
	To    string  `json:"to"`
	Had   float64 `json:"had"`   // contrast
	Needs float64 `json:"needs"` // contrast
}
