// Package keytrial asks a Messages API whether it takes a key, from this computer, by the
// proxies that the programs of a container would have. It asks for the list of models, which
// costs nothing; an API that has none is asked to count the tokens of one word. The key goes
// to the address of the settings alone, and is in no answer of this package.
package keytrial
