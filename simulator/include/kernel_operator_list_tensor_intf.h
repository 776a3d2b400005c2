// What a kernel includes that reads lists of tensors.
#ifndef OPKIT_SIM_KERNEL_OPERATOR_LIST_TENSOR_INTF_H_
#define OPKIT_SIM_KERNEL_OPERATOR_LIST_TENSOR_INTF_H_

#include "kernel_operator.h"

#endif  // OPKIT_SIM_KERNEL_OPERATOR_LIST_TENSOR_INTF_H_
