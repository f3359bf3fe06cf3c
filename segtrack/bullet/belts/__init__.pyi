from .chains import ChainView as ChainView
from .joint_belt import MAX_JOINTS as MAX_JOINTS
from .joint_belt import free_joints as free_joints
from .joint_belt import free_link as free_link
from .joint_belt import set_contact as set_contact
from .segments import slider_groups as slider_groups
