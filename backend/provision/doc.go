// Package provision is the one way from settings to a container that answers.
//
// Ensure reads the settings of a channel, resolves them with package sandbox,
// prepares this computer, has the container made and started, and opens a link
// into it where one is wanted. Runs, terminals, commands of Loop's own and the
// trial of loop doctor differ only in their Want. Resolve is the part of Ensure
// that changes nothing: explanations and previews are made of it.
//
// Services import it for what they want; daemon hands in the adapters behind its
// ports.
package provision
