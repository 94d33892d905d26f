package match

import (
	"encoding/hex"
	"math"
	"sync"
)

// byteBits tells how rare bytes are in source code: eighths of a bit, the logarithm
// of their share, two digits for each byte. Counted in Go's own source tree and in
// JavaScript, C headers, Perl and Python of a Debian system, 180 MB in all.
const byteBits = "" +
	"dbcbdbdbdbdbdbbfdb2b28dbb0a8dbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdb" +
	"145039484d564e40353540502e3e34342c35373c3c403c423e4137454c394963" +
	"5b39423b3e384045493a60503d3f3e3d3d563a383846434e434e5b4841486831" +
	"5428382e2f223036352855402d3428293152272924303b40313a4f3e533e66c7" +
	"737876797c7a7b7a777b7c7f7d7f7e7a7d7c7e7d787a777c7c787e7f7b7b7e73" +
	"7c7d7e7d7a7c7d7c7d7b7e7e7d7e7e7f7e7c7d7d7e7f7f6874787d7c7a7a7c7c" +
	"dbdb67788d8ca99ba795979c8d997685737ea6a9aa988b817e7d9f9fb3d3c9c0" +
	"77816a7d816f6e7070738d84838ba78273dbdbdbcfdbdbdbdbdbdbdbdbdbdbcb"

var byteChances = sync.OnceValue(func() *[256]float64 {
	eighths, err := hex.DecodeString(byteBits)
	if err != nil {
		panic(err)
	}
	var chances [256]float64
	for b, e := range eighths {
		chances[b] = math.Exp2(-float64(e) / 8)
	}
	return &chances
})

// byteChance is the share of b in source code, of both its cases under fold.
func byteChance(b byte, fold bool) float64 {
	chances := byteChances()
	if fold && isLetter(b) {
		return chances[b] + chances[b^0x20]
	}
	return chances[b]
}
