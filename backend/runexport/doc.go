// Package runexport makes one file of a run that people without Loop can open: a zip with a
// page of its turns and pictures, the pictures of prompts, tools and the browser, the turns as Markdown and JSON, and the terminals as
// asciicast v2. Secrets that Loop knows are taken out of all text; pictures are as they are.
// It is a service; only daemon may import it.
package runexport
