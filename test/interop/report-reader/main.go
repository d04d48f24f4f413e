// Reads policy reports, one JSON object per line, with the Go types that their readers use, and prints them again. Unknown, duplicate and
// wrongly written fields are errors.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	policyreport "github.com/kyverno/kyverno/api/policyreport/v1alpha2"
	openreports "github.com/openreports/reports-api/apis/openreports.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strict "sigs.k8s.io/json"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		report, err := read(lines.Bytes())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(report))
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(line []byte) ([]byte, error) {
	var identity metav1.TypeMeta
	if err := json.Unmarshal(line, &identity); err != nil {
		return nil, err
	}
	report, err := empty(identity)
	if err != nil {
		return nil, err
	}
	mistakes, err := strict.UnmarshalStrict(line, report)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(mistakes...); err != nil {
		return nil, err
	}
	return json.Marshal(report)
}

func empty(identity metav1.TypeMeta) (any, error) {
	switch identity {
	case metav1.TypeMeta{APIVersion: openreports.SchemeGroupVersion.String(), Kind: "Report"}:
		return &openreports.Report{}, nil
	case metav1.TypeMeta{APIVersion: openreports.SchemeGroupVersion.String(), Kind: "ClusterReport"}:
		return &openreports.ClusterReport{}, nil
	case metav1.TypeMeta{APIVersion: policyreport.SchemeGroupVersion.String(), Kind: "PolicyReport"}:
		return &policyreport.PolicyReport{}, nil
	case metav1.TypeMeta{APIVersion: policyreport.SchemeGroupVersion.String(), Kind: "ClusterPolicyReport"}:
		return &policyreport.ClusterPolicyReport{}, nil
	}
	return nil, fmt.Errorf("no type of a reader for %s %s", identity.APIVersion, identity.Kind)
}
