package config

import (
	"strings"
	"testing"
)

func TestCheckOfARule(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		want string
	}{
		{Rule{Effect: EffectAccept}, ""},
		{Rule{Effect: EffectAccept, Name: "a", Paths: []string{"*.md"}, Kinds: []string{"create"}, MaxLines: 1, MaxBytes: 1, Sessions: []string{"c*"}, Tools: []string{"bash"}}, ""},
		{Rule{Effect: EffectHold, MinLines: 1}, ""},
		{Rule{}, "effect: "},
		{Rule{Effect: "acept"}, "did you mean accept?"},
		{Rule{Effect: EffectHold, Name: "Built-in: x"}, "name: "},
		{Rule{Effect: EffectHold, Name: "a\nb"}, "name: "},
		{Rule{Effect: EffectHold, Paths: []string{"a", "/b"}}, `paths: "/b": must be relative`},
		{Rule{Effect: EffectHold, Paths: []string{strings.Repeat("{a,b}", 20)}}, "more than 256"},
		{Rule{Effect: EffectHold, Kinds: []string{"modfiy"}}, "did you mean modify?"},
		{Rule{Effect: EffectHold, Sessions: []string{"["}}, "sessions: "},
		{Rule{Effect: EffectHold, Tools: []string{""}}, "tools: "},
		{Rule{Effect: EffectHold, MaxLines: 1}, "max_lines: a hold"},
		{Rule{Effect: EffectHold, MaxBytes: 1}, "max_bytes: a hold"},
		{Rule{Effect: EffectAccept, MinLines: 1}, "min_lines: an accept"},
		{Rule{Effect: EffectAccept, MaxLines: -1}, "max_lines: -1 is negative"},
		{Rule{Effect: EffectHold, Paths: make([]string, maxList+1)}, "paths: more than 200"},
	} {
		err := c.rule.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.rule, err, c.want)
		}
	}
}
