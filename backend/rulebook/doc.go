// Package rulebook puts together what a spawn goes by: the rules that Loop ships, the
// person's, the answers that were remembered, and a project's, which only tighten. It
// stores those answers, too. Methods may be called from any goroutine. Only package
// daemon may import it.
package rulebook
