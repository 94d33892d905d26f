package match

import (
	"fmt"
	"strings"
)

// describe writes a need as text: literals quoted, with an i under fold.
func describe(n *Need) string {
	switch {
	case n == nil:
		return "anything"
	case n.Literal != nil && n.Fold:
		return fmt.Sprintf("%qi", n.Literal)
	case n.Literal != nil:
		return fmt.Sprintf("%q", n.Literal)
	}
	list, sign := n.All, " & "
	if list == nil {
		list, sign = n.Any, " | "
	}
	parts := make([]string, len(list))
	for i, m := range list {
		parts[i] = describe(m)
	}
	return "(" + strings.Join(parts, sign) + ")"
}
